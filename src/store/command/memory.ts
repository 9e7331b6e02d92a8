/**
 * Maximum number of members in a collection and of keys in a store. A `Map` of the JavaScript engine is limited to 2^24
 * entries.
 */
export const maxMembers = 16_000_000

/** Write commands that free memory or need no memory. redis-server runs them even when its memory is full. */
export const frees: ReadonlySet<string> = new Set(
  `DEL UNLINK FLUSHALL FLUSHDB GETDEL EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST RENAME RENAMENX LPOP RPOP LMPOP LREM LTRIM SPOP
SREM SMOVE HDEL ZREM ZPOPMIN ZPOPMAX ZMPOP ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE XACK XDEL XTRIM BLPOP BRPOP
BZPOPMIN BZPOPMAX ARDEL ARDELRANGE ARSEEK JSON.DEL JSON.FORGET JSON.CLEAR JSON.ARRPOP JSON.ARRTRIM SEARCH.DROP VECTOR.DEL VECTOR.DROP`.split(
    /\s+/,
  ),
)

/**
 * Units of work for adding a member to a hash table, in addition to the work for the arguments. An addition takes 0.3
 * to 1 microsecond, including the growth of the table. [measured]
 */
const unitsPerMember = 24

/** Returns the work for adding members to a hash table. One member per command is free. */
export function workOfMembers(count: number): number {
  return count > 1 ? unitsPerMember * (count - 1) : 0
}
