/** Maximum number of members in a collection and of keys in a store: a `Map` of the JavaScript engine ends at 2^24. */
export const maxMembers = 16_000_000

/** Write commands that free memory or need none. redis-server also runs them when memory is full. */
export const frees: ReadonlySet<string> = new Set(
  `DEL UNLINK FLUSHALL FLUSHDB GETDEL EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST RENAME RENAMENX LPOP RPOP LMPOP LREM LTRIM SPOP
SREM SMOVE HDEL ZREM ZPOPMIN ZPOPMAX ZMPOP ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE XACK XDEL XTRIM BLPOP BRPOP
BZPOPMIN BZPOPMAX JSON.DEL JSON.FORGET JSON.CLEAR JSON.ARRPOP JSON.ARRTRIM SEARCH.DROP`.split(/\s+/),
)

/**
 * Adding a member to a hash table takes 0.3 to 1 microsecond, including growth; its arguments are also charged.
 * [measured]
 */
const unitsPerMember = 24

/** Returns the work for adding members to a hash table. One member per command is free. */
export function workOfMembers(count: number): number {
  return count > 1 ? unitsPerMember * (count - 1) : 0
}
