/** Command, and every byte that redis-server 7.0.15 sends for it. HELLO contains its version, so it is not compared. */
export type HeardRow = readonly [command: string, answer: string]

/**
 * Commands of connections that receive messages about themselves, each on a new connection and an empty store.
 * [recorded]
 */
export const heardPrograms: Readonly<Record<string, readonly HeardRow[]>> = {
  'SUBSCRIBE between reads': [
    ['MULTI', '+OK\r\n'],
    ['GET a', '+QUEUED\r\n'],
    ['SUBSCRIBE c d', '+QUEUED\r\n'],
    ['GET b', '+QUEUED\r\n'],
    [
      'EXEC',
      '*3\r\n$-1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nd\r\n:2\r\n$-1\r\n',
    ],
  ],
  'SUBSCRIBE alone': [
    ['MULTI', '+OK\r\n'],
    ['SUBSCRIBE c', '+QUEUED\r\n'],
    ['EXEC', '*1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'],
  ],
  'PUBLISH to oneself, RESP3': [
    ['HELLO 3', 'hello'],
    ['SUBSCRIBE c', '>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'],
    ['MULTI', '+OK\r\n'],
    ['SET a 1', '+QUEUED\r\n'],
    ['PUBLISH c x', '+QUEUED\r\n'],
    ['GET a', '+QUEUED\r\n'],
    ['EXEC', '*3\r\n+OK\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n:1\r\n$1\r\n1\r\n'],
  ],
  'subscribing and unsubscribing, RESP3': [
    ['HELLO 3', 'hello'],
    ['MULTI', '+OK\r\n'],
    ['SUBSCRIBE c d', '+QUEUED\r\n'],
    ['PSUBSCRIBE c*', '+QUEUED\r\n'],
    ['PUBLISH c x', '+QUEUED\r\n'],
    ['UNSUBSCRIBE c d', '+QUEUED\r\n'],
    ['PUNSUBSCRIBE', '+QUEUED\r\n'],
    [
      'EXEC',
      '*5\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\nd\r\n:2\r\n>3\r\n$10\r\npsubscribe\r\n$2\r\nc*\r\n:3\r\n>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n>4\r\n$8\r\npmessage\r\n$2\r\nc*\r\n$1\r\nc\r\n$1\r\nx\r\n:2\r\n>3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:2\r\n>3\r\n$11\r\nunsubscribe\r\n$1\r\nd\r\n:1\r\n>3\r\n$12\r\npunsubscribe\r\n$2\r\nc*\r\n:0\r\n',
    ],
  ],
  'PUBLISH to oneself, RESP2': [
    ['MULTI', '+OK\r\n'],
    ['SUBSCRIBE c', '+QUEUED\r\n'],
    ['PUBLISH c x', '+QUEUED\r\n'],
    ['PING', '+QUEUED\r\n'],
    ['UNSUBSCRIBE', '+QUEUED\r\n'],
    ['PING', '+QUEUED\r\n'],
    [
      'EXEC',
      '*5\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n:1\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n+PONG\r\n',
    ],
  ],
  'UNSUBSCRIBE of nothing': [
    ['MULTI', '+OK\r\n'],
    ['UNSUBSCRIBE', '+QUEUED\r\n'],
    ['EXEC', '*1\r\n*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n'],
  ],
  'CLIENT REPLY OFF': [
    ['MULTI', '+OK\r\n'],
    ['GET a', '+QUEUED\r\n'],
    ['CLIENT REPLY OFF', '+QUEUED\r\n'],
    ['GET b', '+QUEUED\r\n'],
    ['EXEC', '*3\r\n$-1\r\n'],
    ['GET c', ''],
    ['CLIENT REPLY ON', '+OK\r\n'],
  ],
  'CLIENT REPLY SKIP': [
    ['MULTI', '+OK\r\n'],
    ['GET a', '+QUEUED\r\n'],
    ['CLIENT REPLY SKIP', '+QUEUED\r\n'],
    ['GET b', '+QUEUED\r\n'],
    ['EXEC', '*3\r\n$-1\r\n$-1\r\n'],
    ['GET c', ''],
    ['PING', '+PONG\r\n'],
  ],
  'channels of shards': [
    ['MULTI', '+OK\r\n'],
    ['SSUBSCRIBE s', '+QUEUED\r\n'],
    ['SUNSUBSCRIBE s', '+QUEUED\r\n'],
    [
      'EXEC',
      "*2\r\n-ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client\r\n*3\r\n$12\r\nsunsubscribe\r\n$1\r\ns\r\n:0\r\n",
    ],
  ],
  'SUBSCRIBE without replies': [
    ['CLIENT REPLY OFF', ''],
    ['MULTI', ''],
    ['SUBSCRIBE c', ''],
    ['GET a', ''],
    ['EXEC', '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'],
    ['CLIENT REPLY ON', ''],
  ],
  'keyspace events of its own, RESP3': [
    ['HELLO 3', 'hello'],
    ['CONFIG SET notify-keyspace-events KEA', '+OK\r\n'],
    ['PSUBSCRIBE __key*', '>3\r\n$10\r\npsubscribe\r\n$6\r\n__key*\r\n:1\r\n'],
    ['MULTI', '+OK\r\n'],
    ['SET q 1', '+QUEUED\r\n'],
    ['DEL q', '+QUEUED\r\n'],
    [
      'EXEC',
      '*2\r\n>4\r\n$8\r\npmessage\r\n$6\r\n__key*\r\n$16\r\n__keyspace@0__:q\r\n$3\r\nset\r\n>4\r\n$8\r\npmessage\r\n$6\r\n__key*\r\n$18\r\n__keyevent@0__:set\r\n$1\r\nq\r\n+OK\r\n>4\r\n$8\r\npmessage\r\n$6\r\n__key*\r\n$16\r\n__keyspace@0__:q\r\n$3\r\ndel\r\n>4\r\n$8\r\npmessage\r\n$6\r\n__key*\r\n$18\r\n__keyevent@0__:del\r\n$1\r\nq\r\n:1\r\n',
    ],
  ],
  'PUBLISH without replies, RESP3': [
    ['HELLO 3', 'hello'],
    ['SUBSCRIBE c', '>3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'],
    ['CLIENT REPLY OFF', ''],
    ['MULTI', ''],
    ['PUBLISH c x', ''],
    ['GET a', ''],
    ['EXEC', '>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n'],
    ['CLIENT REPLY ON', '+OK\r\n'],
  ],
  'CLIENT REPLY ON': [
    ['MULTI', '+OK\r\n'],
    ['CLIENT REPLY ON', '+QUEUED\r\n'],
    ['GET a', '+QUEUED\r\n'],
    ['EXEC', '*2\r\n+OK\r\n$-1\r\n'],
  ],
  'SUBSCRIBE while there are no replies': [
    ['MULTI', '+OK\r\n'],
    ['CLIENT REPLY OFF', '+QUEUED\r\n'],
    ['SUBSCRIBE c', '+QUEUED\r\n'],
    ['CLIENT REPLY ON', '+QUEUED\r\n'],
    ['GET a', '+QUEUED\r\n'],
    ['EXEC', '*4\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n+OK\r\n$-1\r\n'],
  ],
  'after EXEC': [
    ['WATCH w', '+OK\r\n'],
    ['MULTI', '+OK\r\n'],
    ['SUBSCRIBE c', '+QUEUED\r\n'],
    ['EXEC', '*1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'],
    ['UNSUBSCRIBE c', '*3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n'],
    ['PING', '+PONG\r\n'],
  ],
  errors: [
    ['MULTI', '+OK\r\n'],
    ['SET a 1', '+QUEUED\r\n'],
    ['LPUSH a 1', '+QUEUED\r\n'],
    ['SUBSCRIBE c', '+QUEUED\r\n'],
    ['INCR a', '+QUEUED\r\n'],
    [
      'EXEC',
      '*4\r\n+OK\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n:2\r\n',
    ],
  ],
  'refusals of who listens': [
    ['SUBSCRIBE c', '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n'],
    [
      'OBJECT ENCODING a',
      "-ERR Can't execute 'object|encoding': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    [
      'CLIENT LIST',
      "-ERR Can't execute 'client|list': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    [
      'CONFIG GET x',
      "-ERR Can't execute 'config|get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    [
      'GET a',
      "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    [
      'XINFO STREAM a',
      "-ERR Can't execute 'xinfo|stream': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    [
      'ACL WHOAMI',
      "-ERR Can't execute 'acl|whoami': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    [
      'BLPOP a 0',
      "-ERR Can't execute 'blpop': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    ],
    ['OBJECT', "-ERR wrong number of arguments for 'object' command\r\n"],
    ['GET', "-ERR wrong number of arguments for 'get' command\r\n"],
  ],
}
