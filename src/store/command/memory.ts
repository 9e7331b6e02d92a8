/** Members that a collection has at most, and keys that a store has: a `Map` of the engine ends at 2^24. */
export const mostMembers = 16_000_000

/** Commands that write and make room by that, or take none: those that redis-server runs without memory, too. */
export const frees: ReadonlySet<string> = new Set(
  `DEL UNLINK FLUSHALL FLUSHDB GETDEL EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST RENAME RENAMENX LPOP RPOP LMPOP LREM LTRIM SPOP
SREM SMOVE HDEL ZREM ZPOPMIN ZPOPMAX ZMPOP ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE XACK XDEL XTRIM BLPOP BRPOP
BZPOPMIN BZPOPMAX JSON.DEL JSON.FORGET JSON.CLEAR JSON.ARRPOP JSON.ARRTRIM SEARCH.DROP`.split(/\s+/),
)
