#ifndef C_BELFRY_SYSTEM_H
#define C_BELFRY_SYSTEM_H
#endif
