/// Bytes that nats-server 2.15.1 sent; its times and its long ids are others here.
enum Captured {
    /// The greeting.
    static let info = [
        #"INFO {"server_id":"NSERVER","server_name":"NSERVER","version":"2.15.1","#,
        #""proto":1,"git_commit":"b2fd3ef","go":"go1.27.2","host":"127.0.0.1","#,
        #""port":27422,"headers":true,"max_payload":1048576,"jetstream":true,"#,
        #""client_id":5,"client_ip":"127.0.0.1","api_lvl":5,"xkey":"XKEY"} \#r\#n"#,
    ].joined()

    /// The first message of a stream, published again to a second subject.
    static let republished = [
        "HMSG belfry.prod.rep 2 180 186\r\n",
        "NATS/1.0\r\n",
        "Nats-Msg-Id: n1.1.1\r\n",
        "Nats-Stream: BELFRY_prod\r\n",
        "Nats-Subject: belfry.prod.log\r\n",
        "Nats-Sequence: 1\r\n",
        "Nats-Time-Stamp: 2026-01-02T03:04:14.933842251Z\r\n",
        "Nats-Last-Sequence: 0\r\n",
        "\r\n",
        "entry1\r\n",
    ].joined()

    /// The acknowledgement of it.
    static let acknowledged = [
        "MSG _INBOX.a.11 1 32\r\n",
        #"{"stream":"BELFRY_prod","seq":1}\#r\#n"#,
    ].joined()

    /// The acknowledgement of a message whose id the stream knows.
    static let duplicate = [
        "MSG _INBOX.a.20 1 50\r\n",
        #"{"stream":"BELFRY_prod","seq":2,"duplicate": true}\#r\#n"#,
    ].joined()

    /// The refusal of a stream that discards what is new, and is full.
    static let full = [
        "MSG _INBOX.a.58 1 109\r\n",
        #"{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"},"#,
        #""stream":"BELFRY_prod","seq":0}\#r\#n"#,
    ].joined()

    /// The answers to DIRECT.GET of 2 messages from 2 on, where there are 4.
    static let batch = [
        "HMSG _INBOX.a.30 1 201 207\r\n",
        "NATS/1.0\r\n",
        "Nats-Msg-Id: n1.1.2\r\n",
        "Nats-Stream: BELFRY_prod\r\n",
        "Nats-Subject: belfry.prod.log\r\n",
        "Nats-Sequence: 2\r\n",
        "Nats-Time-Stamp: 2026-01-02T03:04:15.534946835Z\r\n",
        "Nats-Num-Pending: 2\r\n",
        "Nats-Last-Sequence: 0\r\n",
        "\r\n",
        "entry2\r\n",
        "HMSG _INBOX.a.30 1 201 207\r\n",
        "NATS/1.0\r\n",
        "Nats-Msg-Id: n1.1.3\r\n",
        "Nats-Stream: BELFRY_prod\r\n",
        "Nats-Subject: belfry.prod.log\r\n",
        "Nats-Sequence: 3\r\n",
        "Nats-Time-Stamp: 2026-01-02T03:04:16.149777765Z\r\n",
        "Nats-Num-Pending: 1\r\n",
        "Nats-Last-Sequence: 2\r\n",
        "\r\n",
        "entry3\r\n",
        "HMSG _INBOX.a.30 1 64 64\r\n",
        "NATS/1.0 204 EOB\r\n",
        "Nats-Num-Pending: 1\r\n",
        "Nats-Last-Sequence: 3\r\n",
        "\r\n",
        "\r\n",
    ].joined()

    /// The answers to DIRECT.GET of 2 messages from 1 on, where the first is 3.
    static let overHole = [
        "HMSG _INBOX.a.41 1 201 207\r\n",
        "NATS/1.0\r\n",
        "Nats-Msg-Id: n1.1.3\r\n",
        "Nats-Stream: BELFRY_prod\r\n",
        "Nats-Subject: belfry.prod.log\r\n",
        "Nats-Sequence: 3\r\n",
        "Nats-Time-Stamp: 2026-01-02T03:04:16.149777765Z\r\n",
        "Nats-Num-Pending: 1\r\n",
        "Nats-Last-Sequence: 0\r\n",
        "\r\n",
        "entry3\r\n",
        "HMSG _INBOX.a.41 1 201 207\r\n",
        "NATS/1.0\r\n",
        "Nats-Msg-Id: n1.1.4\r\n",
        "Nats-Stream: BELFRY_prod\r\n",
        "Nats-Subject: belfry.prod.log\r\n",
        "Nats-Sequence: 4\r\n",
        "Nats-Time-Stamp: 2026-01-02T03:04:16.750849727Z\r\n",
        "Nats-Num-Pending: 0\r\n",
        "Nats-Last-Sequence: 3\r\n",
        "\r\n",
        "entry4\r\n",
        "HMSG _INBOX.a.41 1 64 64\r\n",
        "NATS/1.0 204 EOB\r\n",
        "Nats-Num-Pending: 0\r\n",
        "Nats-Last-Sequence: 4\r\n",
        "\r\n",
        "\r\n",
    ].joined()

    /// The answer to DIRECT.GET of a message past the end.
    static let pastEnd = [
        "HMSG _INBOX.a.32 1 34 34\r\n",
        "NATS/1.0 404 Message Not Found\r\n",
        "\r\n",
        "\r\n",
    ].joined()

    /// The answer to DIRECT.GET of no number.
    static let malformedRequest = [
        "HMSG _INBOX.a.43 1 30 30\r\n",
        "NATS/1.0 408 Empty Request\r\n",
        "\r\n",
        "\r\n",
    ].joined()

    /// The answer to DIRECT.GET of a stream that there is not.
    static let nobody = [
        "HMSG _INBOX.a.45 1 57 57\r\n",
        "NATS/1.0 503\r\n",
        "Nats-Subject: $JS.API.DIRECT.GET.NOBODY\r\n",
        "\r\n",
        "\r\n",
    ].joined()

    /// The answer to STREAM.CREATE.
    static let created = [
        "MSG _INBOX.a.2 1 897\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_create_response","#,
        #""config":{"name":"BELFRY_prod","subjects":["belfry.prod.log"],"#,
        #""retention":"limits","max_consumers":-1,"max_msgs":-1,"max_bytes":4096,"#,
        #""max_age":0,"max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"new","#,
        #""storage":"file","num_replicas":1,"duplicate_window":120000000000,"#,
        #""compression":"none","republish":{"src":"belfry.prod.log","#,
        #""dest":"belfry.prod.rep"},"allow_direct":true,"mirror_direct":false,"#,
        #""sealed":false,"deny_delete":true,"deny_purge":false,"#,
        #""allow_rollup_hdrs":false,"consumer_limits":{},"allow_msg_ttl":false,"#,
        #""metadata":{"_nats.level":"5","_nats.req.level":"0","_nats.ver":"2.15.1"}},"#,
        #""created":"2026-01-02T03:04:12.750460192Z","state":{"messages":0,"bytes":0,"#,
        #""first_seq":0,"first_ts":"0001-01-01T00:00:00Z","last_seq":0,"#,
        #""last_ts":"0001-01-01T00:00:00Z","consumer_count":0},"#,
        #""ts":"2026-01-02T03:04:12.751329725Z","did_create":true}\#r\#n"#,
    ].joined()

    /// The answer to STREAM.CREATE of a stream that has other settings.
    static let otherSettings = [
        "MSG _INBOX.a.4 1 170\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_create_response","error":{"code":400,"#,
        #""err_code":10058,"#,
        #""description":"stream name already in use with a different configuration"}}\#r\#n"#,
    ].joined()

    /// The answer to STREAM.CREATE of a stream that is larger than the disk.
    static let noRoom = [
        "MSG _INBOX.a.81 1 153\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_create_response","error":{"code":500,"#,
        #""err_code":10047,"description":"insufficient storage resources available"}}\#r\#n"#,
    ].joined()

    /// The answer to STREAM.INFO.
    static let streamInfo = [
        "MSG _INBOX.a.21 1 978\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_info_response","total":0,"offset":0,"#,
        #""limit":0,"config":{"name":"BELFRY_prod","subjects":["belfry.prod.log"],"#,
        #""retention":"limits","max_consumers":-1,"max_msgs":-1,"max_bytes":4096,"#,
        #""max_age":0,"max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"new","#,
        #""storage":"file","num_replicas":1,"duplicate_window":120000000000,"#,
        #""compression":"none","republish":{"src":"belfry.prod.log","#,
        #""dest":"belfry.prod.rep"},"allow_direct":true,"mirror_direct":false,"#,
        #""sealed":false,"deny_delete":true,"deny_purge":false,"#,
        #""allow_rollup_hdrs":false,"consumer_limits":{},"allow_msg_ttl":false,"#,
        #""metadata":{"_nats.level":"5","_nats.req.level":"0","_nats.ver":"2.15.1"}},"#,
        #""created":"2026-01-02T03:04:12.750460192Z","state":{"messages":4,"bytes":352,"#,
        #""first_seq":1,"first_ts":"2026-01-02T03:04:14.933842251Z","last_seq":4,"#,
        #""last_ts":"2026-01-02T03:04:16.750849727Z","num_subjects":1,"#,
        #""consumer_count":0},"cluster":{"leader":"NSERVER"},"#,
        #""ts":"2026-01-02T03:04:17.953114588Z"}\#r\#n"#,
    ].joined()

    /// The answer to STREAM.INFO of a stream that there is not.
    static let noStream = [
        "MSG _INBOX.a.1 1 158\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_info_response","error":{"code":404,"#,
        #""err_code":10059,"description":"stream not found"},"total":0,"offset":0,"#,
        #""limit":0}\#r\#n"#,
    ].joined()

    /// The answer to STREAM.PURGE of the messages before 3.
    static let purged = [
        "MSG _INBOX.a.40 1 83\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_purge_response","success":true,"#,
        #""purged":2}\#r\#n"#,
    ].joined()

    /// The answer to STREAM.PURGE of a stream that there is not.
    static let notPurged = [
        "MSG _INBOX.a.46 1 139\r\n",
        #"{"type":"io.nats.jetstream.api.v1.stream_purge_response","error":{"code":404,"#,
        #""err_code":10059,"description":"stream not found"},"purged":0}\#r\#n"#,
    ].joined()
}
