/** Members that a collection has at most, and keys that a store has: a `Map` of the engine ends at 2^24. */
export const maxMembers = 16_000_000

/** Commands that write and make room by that, or take none: those that redis-server runs without memory, too. */
export const frees: ReadonlySet<string> = new Set(
  `DEL UNLINK FLUSHALL FLUSHDB GETDEL EXPIRE PEXPIRE EXPIREAT PEXPIREAT PERSIST RENAME RENAMENX LPOP RPOP LMPOP LREM LTRIM SPOP
SREM SMOVE HDEL ZREM ZPOPMIN ZPOPMAX ZMPOP ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE XACK XDEL XTRIM BLPOP BRPOP
BZPOPMIN BZPOPMAX JSON.DEL JSON.FORGET JSON.CLEAR JSON.ARRPOP JSON.ARRTRIM SEARCH.DROP`.split(/\s+/),
)

/** A member of a hash table takes 0.3 to 1 microsecond, growth of the table included; its words are charged, too. [measured] */
const unitsPerMember = 24

/** What it costs to add so many members to a hash table, beside the one that every command may add. */
export function workOfMembers(count: number): number {
  return count > 1 ? unitsPerMember * (count - 1) : 0
}
