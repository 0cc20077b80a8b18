#!/usr/bin/env python3
"""Clients that generators make of openapi.yaml: each registers, posts, reads a mailbox and removes.

    Tests/BlackBox/generated_clients.py [BINARY]

Needs openapi-python-client and openapi-generator-cli of PyPI in the PATH, Java for the second, Node.js and tsc.
Scripts/generated-clients sees to all of them.
"""

import importlib
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import time

from broker_log import BrokerLog

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "openapi.yaml"
PATIENCE = 30

TYPESCRIPT = """
import {
    AskingApi, Configuration, LookingInsideApi, ObservingApi, PostingApi, ResponseError, ValuesApi,
} from './client';

function check(isGood: boolean, told: string) {
    if (!isGood) { throw new Error(told); }
}

async function statusOf(call: Promise<unknown>): Promise<number> {
    try {
        await call;
    } catch (error) {
        if (error instanceof ResponseError) { return error.response.status; }
        throw error;
    }
    return 200;
}

async function main(basePath: string) {
    const configuration = new Configuration({ basePath });
    const observing = new ObservingApi(configuration);
    const posting = new PostingApi(configuration);
    const looking = new LookingInsideApi(configuration);

    const observer = await observing.createObserver({ registration: { name: 'Order' } });
    check(observer.suspensionBehavior === 'hold', 'a mailbox holds');
    const receipt = await posting.postToChannel({ name: 'Order', body: { total: 12 } });
    check(receipt !== null && receipt !== undefined && receipt.matched === 1, 'one observer matches');
    await posting.postNotifications({ postNotificationsRequest: { name: 'Order', object: 'till' } });

    const idOrToken = observer.token;
    const mailbox = await observing.getMailbox({ idOrToken });
    const [first, second] = mailbox.notifications;
    check(mailbox.notifications.length === 2 && second.object === 'till', 'both posts are there');
    check(JSON.stringify(first.userInfo) === '{"total":12}', 'the userInfo is that of the post');
    const rest = await observing.getMailbox({ idOrToken, after: mailbox.next });
    check(rest.notifications.length === 0, 'what was acknowledged is gone');

    await posting.postToChannelInCenter({ center: 'kitchen', name: 'Order' });
    const channels = await looking.listChannelsInCenter({ center: 'kitchen' });
    check(channels.channels[0].name === 'Order', 'the other center has its own channels');

    const place = { object: 'menu', keyPath: 'soup.price' };
    const written = await new ValuesApi(configuration).setValue({ ...place, body: 4.5 });
    check(written.changed, 'a new value is a change');
    check(await looking.getValue(place) === 4.5, 'the value is what was put');

    const asking = new AskingApi(configuration);
    const ask = { object: 'deploy', selector: 'shouldStart', _default: 'true' };
    check((await asking.ask(ask)).answer === true, 'the default is the answer');
    const answer = await asking.askInCenter({ ...ask, center: 'kitchen' });
    check(answer.by === 'default', 'the default is the answer in the other center, too');

    const bad = observing.createObserver({ registration: { name: 'Order', acknowledge: true } });
    check(await statusOf(bad) === 422, 'a mailbox does not acknowledge');
    await observing.removeObserver({ idOrToken });
    check(await statusOf(observing.removeObserver({ idOrToken })) === 410, 'it is removed once');
}

main(process.argv[2]).catch((error) => { console.error(error); process.exit(1); });
"""


class Broker:
    def __init__(self, binary):
        self.log = BrokerLog()
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--in-memory", "--log-format", "json"],
            stdout=subprocess.DEVNULL, stderr=self.log)

    def url(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r'"listening".*?(127\.0\.0\.1:\d+)', self.log.text())
            if found:
                return "http://" + found.group(1)
            time.sleep(0.01)
        sys.exit("the broker did not start")

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)


def run(*command, where=None):
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def use_python_client(url, folder):
    """openapi-python-client: every module is imported, and the calls are typed."""
    told = run("openapi-python-client", "generate", "--path", CONTRACT, "--output-path", folder,
               "--meta", "none")
    assert "removal of" not in told, f"the generator leaves schemas out:\n{told}"
    assert "has no schema" not in told, f"the generator leaves operations out:\n{told}"
    sys.path.insert(0, str(folder.parent))
    package = importlib.import_module(folder.name)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

    api = importlib.import_module(folder.name + ".api")
    models = importlib.import_module(folder.name + ".models")
    observing, posting, looking = api.observing, api.posting, api.looking_inside
    client = package.Client(base_url=url)

    registration = models.Registration(name="Order")
    observer = observing.create_observer.sync(client=client, body=registration)
    assert observer.suspension_behavior == models.SuspensionBehavior.HOLD, observer
    total = models.UserInfo.from_dict({"total": 12})
    receipt = posting.post_to_channel.sync("Order", client=client, body=total)
    assert receipt.matched == 1, receipt
    batch = [models.Post(name="Order", object_="till"), models.Post(name="Order", style="asap")]
    receipts = posting.post_notifications.sync(client=client, body=batch).receipts
    assert receipts[0].matched == 1 and receipts[1].outcome == "queued", receipts

    token = observer.token
    mailbox = observing.get_mailbox.sync(token, client=client, prefer="wait=5")
    objects = [notification.object_ for notification in mailbox.notifications]
    assert len(objects) >= 2 and objects[1] == "till", mailbox
    assert mailbox.notifications[0].user_info.to_dict() == {"total": 12}, mailbox
    rest = observing.get_mailbox.sync(token, client=client, after=mailbox.next_)
    assert all(one.seq > mailbox.next_ for one in rest.notifications), rest

    posting.post_to_channel_in_center.sync("kitchen", "Order", client=client)
    channels = looking.list_channels_in_center.sync("kitchen", client=client).channels
    assert [channel.name for channel in channels] == ["Order"], channels

    written = api.values.set_value.sync("menu", "soup.price", client=client, body=4.5)
    assert written.changed, written
    assert looking.get_value.sync("menu", "soup.price", client=client) == 4.5

    fallback = {"client": client, "default": "true"}
    answer = api.asking.ask.sync("deploy", "shouldStart", **fallback)
    assert answer.answer is True and answer.by == "default", answer
    answer = api.asking.ask_in_center.sync("kitchen", "deploy", "shouldStart", **fallback)
    assert answer.answer is True and answer.path == ["deploy"], answer

    registration.acknowledge = True
    problem = observing.create_observer.sync(client=client, body=registration)
    assert problem.type_.endswith("/invalid-fields") and problem.errors, problem
    assert observing.remove_observer.sync_detailed(token, client=client).status_code == 204
    tombstone = observing.remove_observer.sync(token, client=client)
    assert tombstone.reason == "removed", tombstone


def use_typescript_client(url, folder):
    """openapi-generator-cli with typescript-fetch: tsc finds nothing, and Node.js runs it."""
    run("openapi-generator-cli", "generate", "-g", "typescript-fetch", "-i", CONTRACT, "-o",
        folder / "client")
    (folder / "use.ts").write_text("declare const process: any;\n" + TYPESCRIPT)
    # Before 4.9, as in Debian 12, tsc does not narrow by `in` and takes generated members for `any`.
    run("tsc", "--strict", "--noImplicitAny", "false", "--target", "es2020", "--module", "commonjs", "--moduleResolution", "node",
        "--lib", "es2020,dom,dom.iterable", "--outDir", "built", "use.ts", where=folder)
    run("node", "built/use.js", url, where=folder)


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/release/belfry"
    broken = False
    with tempfile.TemporaryDirectory(prefix="belfry-clients.") as folder:
        for use, tools in [
            (use_python_client, ["openapi-python-client"]),
            (use_typescript_client, ["openapi-generator-cli", "java", "tsc", "node"]),
        ]:
            missing = [tool for tool in tools if shutil.which(tool) is None]
            if missing:
                sys.exit(f"error: {' and '.join(missing)} missing; run Scripts/generated-clients")
            place = pathlib.Path(folder) / use.__name__
            place.parent.mkdir(exist_ok=True)
            if use is use_typescript_client:
                place.mkdir()
            broker = Broker(binary)
            try:
                use(broker.url(), place)
                print("ok  ", use.__doc__.splitlines()[0], flush=True)
            finally:
                broken = broker.stop() != 0 or broken
    sys.exit(1 if broken else 0)


main()
