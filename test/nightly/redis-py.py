"""What a program in Python does with the store, over its native protocol. Gets the address; prints what was wrong."""

import sys
import threading

import redis

url = sys.argv[1]
client = redis.Redis.from_url(url, decode_responses=True)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, and not {wanted!r}")


def fails(what, kind, run):
    try:
        got = run()
    except kind:
        return
    sys.exit(f"{what}: {got!r}, and no {kind.__name__}")


expect("PING", client.ping(), True)
expect("FLUSHALL", client.flushall(), True)
expect("SET", client.set("greeting", "hëllo", ex=100), True)
expect("GET", client.get("greeting"), "hëllo")
expect("TTL", client.ttl("greeting"), 100)
expect("SET NX", client.set("greeting", "again", nx=True), None)
raw = redis.Redis.from_url(url)
every = bytes(range(256))
raw.set(b"bytes", every)
expect("bytes", raw.get(b"bytes"), every)

expect("HSET", client.hset("user", mapping={"name": "Ada", "age": 36}), 2)
expect("HGETALL", client.hgetall("user"), {"name": "Ada", "age": "36"})
expect("ZADD", client.zadd("scores", {"a": 1.5, "b": float("inf")}), 2)
expect("ZRANGE", client.zrange("scores", 0, -1, withscores=True), [("a", 1.5), ("b", float("inf"))])
expect("ZINCRBY", client.zincrby("scores", 1, "a"), 2.5)
expect("SADD", client.sadd("set", "x", "y"), 2)
expect("SMEMBERS", client.smembers("set"), {"x", "y"})
expect("XADD", client.xadd("stream", {"field": "value"}, id="1-1"), "1-1")
expect("XRANGE", client.xrange("stream"), [("1-1", {"field": "value"})])
expect("XGROUP", client.xgroup_create("stream", "group", id="0"), True)
expect("XREADGROUP", client.xreadgroup("group", "me", {"stream": ">"}), [["stream", [("1-1", {"field": "value"})]]])
expect("XPENDING", client.xpending("stream", "group")["pending"], 1)
expect("GEOADD", client.geoadd("places", (13.361389, 38.115556, "Palermo")), 1)
expect("GEODIST", client.geopos("places", "nowhere"), [None])
expect("INFO", client.info("server")["redis_mode"], "standalone")
expect("CLIENT", (client.client_setname("me"), client.client_getname()), (True, "me"))
fails("INCR of a list", redis.ResponseError, lambda: (client.rpush("list", "a"), client.incr("list")))
fails("nonsense", redis.ResponseError, lambda: client.execute_command("NONSENSE"))

client.mset({f"key:{n}": n for n in range(500)})
expect("SCAN", len(set(client.scan_iter("key:*"))), 500)

with client.pipeline() as pipeline:
    expect("MULTI", pipeline.incr("n").incr("n").get("n").execute(), [1, 2, "2"])
with client.pipeline(transaction=False) as pipeline:
    for _ in range(2000):
        pipeline.incr("many")
    expect("pipeline", pipeline.execute()[-1], 2000)
with client.pipeline() as pipeline:
    pipeline.watch("n")
    client.incr("n")
    pipeline.multi()
    pipeline.incr("n")
    fails("WATCH", redis.WatchError, pipeline.execute)

add = client.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
expect("EVALSHA", add(keys=["n"], args=[39]), 42)

threading.Timer(0.2, lambda: redis.Redis.from_url(url).rpush("queue", "job")).start()
expect("BLPOP", client.blpop("queue", timeout=10), ("queue", "job"))

with client.pubsub() as listener:
    listener.subscribe("news")
    listener.psubscribe("n*")
    for _ in range(2):
        listener.get_message(timeout=5)
    expect("PUBLISH", client.publish("news", "hello"), 2)
    heard = [listener.get_message(timeout=5)["type"] for _ in range(2)]
    expect("messages", heard, ["message", "pmessage"])

with client.lock("lock", timeout=5):
    expect("a second lock", client.lock("lock", timeout=5).acquire(blocking=False), False)

wrong = redis.Redis.from_url(url.replace("@", "x@"))
fails("a wrong password", redis.RedisError, wrong.ping)
print(f"redis-py {redis.__version__}: everything it did was answered as it should be.")
