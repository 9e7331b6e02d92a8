import { newerSection, type Section, section } from '../support/steps.js'

const redis74 = 'store.md 7.2 (HEXPIRE family, HFE texts) and the documentation of redis 7.4'
const redis80 = 'store.md 7.2 (HGETEX, HSETEX, HGETDEL, HFE texts) and the documentation of redis 8.0'

export const steps: readonly Section[] = [
  section(
    'HSET, HMSET, HSETNX',
    `
    HSET h a 1
    HSET h a 2
    HSET h a 3 b 4 c 5
    HSET h d 1 d 2
    HGETALL h
    HSET h "" empty "\\x00\\xff" "\\r\\n"
    HGET h ""
    HGET h "\\x00\\xff"
    TYPE h
    hset h lower Case
    HSET h
    HSET h a
    HSET h a 1 b
    HSET
    HMSET h a 10 e 20
    HMSET new a 1
    HMSET h
    HMSET h a
    HMSET h a 1 b
    HMSET
    HSETNX h a 99
    HSETNX h f 99
    HSETNX fresh a 1
    HSETNX h a
    HSETNX h a 1 2
    HGETALL h
    SET s v
    HSET s a 1
    HMSET s a 1
    HSETNX s a 1
    `,
  ),
  section(
    'HGET, HMGET, HEXISTS, HLEN, HSTRLEN',
    `
    HSET h a 1 b "two words" c ""
    HGET h a
    HGET h c
    HGET h nope
    HGET missing a
    HGET h
    HGET h a b
    HGET
    HMGET h a nope b a
    HMGET missing a b
    HMGET h
    HMGET
    HEXISTS h a
    HEXISTS h nope
    HEXISTS missing a
    HEXISTS h
    HEXISTS h a b
    HLEN h
    HLEN missing
    HLEN
    HLEN h a
    HSTRLEN h a
    HSTRLEN h b
    HSTRLEN h c
    HSTRLEN h nope
    HSTRLEN missing a
    HSTRLEN h
    HSTRLEN h a b
    SET s v
    HGET s a
    HMGET s a
    HEXISTS s a
    HLEN s
    HSTRLEN s a
    `,
  ),
  section(
    'HGETALL, HKEYS, HVALS',
    `
    HSET h b 2 a 1 c 3
    HGETALL h
    HKEYS h
    HVALS h
    HDEL h a
    HSET h a 4 b 5
    HGETALL h
    HGETALL missing
    HKEYS missing
    HVALS missing
    HGETALL
    HGETALL h x
    HKEYS
    HKEYS h x
    HVALS
    HVALS h x
    SET s v
    HGETALL s
    HKEYS s
    HVALS s
    `,
  ),
  section(
    'HDEL',
    `
    HSET h a 1 b 2 c 3
    HDEL h a
    HDEL h a
    HDEL h b nope b
    HDEL h c
    EXISTS h
    HDEL h c
    HDEL missing a b
    HDEL h
    HDEL
    SET s v
    HDEL s a
    HSET t a 1 b 2
    EXPIRE t 100
    HDEL t a
    HSET t c 3
    TTL t
    `,
  ),
  section(
    'HINCRBY',
    `
    HINCRBY h n 1
    HINCRBY h n 41
    HINCRBY h n -100
    HINCRBY h n 0
    HINCRBY h other 9223372036854775807
    HINCRBY h other 1
    HINCRBY h other -1
    HINCRBY h other -9223372036854775808
    HINCRBY h min -9223372036854775808
    HINCRBY h min -1
    HINCRBY h big 9007199254740991
    HINCRBY h big 1
    HINCRBY h big 1
    HINCRBY h big -9007199254740993
    HGETALL h
    HSET h text abc float 1.5 blank "" spaced " 1" padded 01 plus +1 huge 9223372036854775808
    HINCRBY h text 1
    HINCRBY h float 1
    HINCRBY h blank 1
    HINCRBY h spaced 1
    HINCRBY h padded 1
    HINCRBY h plus 1
    HINCRBY h huge 1
    HINCRBY h n x
    HINCRBY h n 1.5
    HINCRBY h n ""
    HINCRBY h n 9223372036854775808
    HINCRBY missing n x
    EXISTS missing
    HINCRBY h n
    HINCRBY h n 1 2
    HINCRBY
    SET s v
    HINCRBY s n 1
    HINCRBY s n x
    `,
  ),
  section(
    'HINCRBYFLOAT',
    `
    HINCRBYFLOAT h f 10.5
    HINCRBYFLOAT h f 0.1
    HINCRBYFLOAT h f -5
    HINCRBYFLOAT h f 5.0e3
      = "5005.6" because store.md 3.4: computed in double precision on the service
    HINCRBYFLOAT h f 0
      = "5005.6" because store.md 3.4: computed in double precision on the service
    HSET h e 5.0e3
    HINCRBYFLOAT h e 200
    HINCRBYFLOAT h third 0.1
    HINCRBYFLOAT h third 0.2
      = "0.30000000000000004" because store.md 3.4: computed in double precision on the service
    HGET h third
      = "0.30000000000000004" because store.md 3.4: computed in double precision on the service
    HINCRBYFLOAT h large 1e20
    HINCRBYFLOAT h small 1e-10
    HINCRBYFLOAT h tiny 1e-18
    HINCRBYFLOAT h neg -0
    HINCRBYFLOAT h hexa 0x10
    HINCRBYFLOAT h int 3
    HINCRBYFLOAT h int 1.0
    HSET h text abc blank "" spaced " 1" inf inf nan nan
    HINCRBYFLOAT h text 1
    HINCRBYFLOAT h blank 1
    HINCRBYFLOAT h spaced 1
    HINCRBYFLOAT h nan 1
    HINCRBYFLOAT h inf 1
    HINCRBYFLOAT h f x
    HINCRBYFLOAT h f ""
    HINCRBYFLOAT h f nan
    HINCRBYFLOAT h f inf
    HINCRBYFLOAT h f -inf
    HINCRBYFLOAT missing f x
    HINCRBYFLOAT missing f inf
    EXISTS missing
    HINCRBYFLOAT h f
    HINCRBYFLOAT h f 1 2
    SET s v
    HINCRBYFLOAT s f 1
    HINCRBYFLOAT s f x
    HINCRBYFLOAT s f inf
    `,
  ),
  section(
    'HRANDFIELD',
    `
    HSET h a 1
    HRANDFIELD h
    HRANDFIELD h 1
    HRANDFIELD h 5 WITHVALUES
    HRANDFIELD h -3
    HRANDFIELD h -2 WITHVALUES
    HRANDFIELD h 0
    HRANDFIELD h 0 WITHVALUES
    HSET h b 2 c 3
    ~shape HRANDFIELD h
    ~shape HRANDFIELD h 2
    ~shape HRANDFIELD h 2 withvalues
    ~unordered HRANDFIELD h 3
    ~pairs HRANDFIELD h 10 WITHVALUES
    ~shape HRANDFIELD h -10
    ~shape HRANDFIELD h -4 WITHVALUES
    HLEN h
    HRANDFIELD missing
    HRANDFIELD missing 1
    HRANDFIELD missing -1 WITHVALUES
    HRANDFIELD missing 1 FOO
    HRANDFIELD h x
    HRANDFIELD missing x
    HRANDFIELD h 1.5
    HRANDFIELD h 1 FOO
    HRANDFIELD h 1 WITHSCORES
    HRANDFIELD h 1 WITHVALUES x
    HRANDFIELD h WITHVALUES
    HRANDFIELD h -9223372036854775808
    HRANDFIELD h 9223372036854775807 WITHVALUES
    HRANDFIELD h -9223372036854775807 WITHVALUES
    HRANDFIELD missing 9223372036854775807 WITHVALUES
    HRANDFIELD
    SET s v
    HRANDFIELD s
    HRANDFIELD s 1
    HRANDFIELD s x
    `,
  ),
  section(
    'HSCAN',
    `
    HSET h a 1 b 2 aa 3 ab 4
    ~scanpairs HSCAN h 0
    ~scanpairs HSCAN h 0 COUNT 100
    ~scanpairs HSCAN h 0 MATCH a* COUNT 100
    ~scanpairs hscan h 0 count 100 match ?b
    ~scanpairs HSCAN h 0 MATCH nope COUNT 100
    # kept in one piece: whole whatever COUNT says, in order of insertion
    HSET piece c 3 a 1 b 2 ab 4
    HSCAN piece 0
    HSCAN piece 0 COUNT 1
    HSCAN piece 0 COUNT 2 MATCH a*
    HDEL piece a
    HSCAN piece 0 COUNT 1
    HSCAN missing 0
    HSCAN missing 0 FOO
    HSCAN missing x
    HSCAN h x
    HSCAN h 1.0
    HSCAN h 18446744073709551616
    HSCAN h 0 COUNT
    HSCAN h 0 COUNT 0
    HSCAN h 0 COUNT -5
    HSCAN h 0 COUNT x
    HSCAN h 0 MATCH
    HSCAN h 0 FOO
    HSCAN h 0 TYPE hash
    HSCAN h 0 NOVALUES
      = ["0", ["a", "b", "aa", "ab"]] because store.md 7.2: fields only
    HSCAN h 0 novalues MATCH a? COUNT 100
      = ["0", ["aa", "ab"]] because store.md 7.2: fields only
    HSCAN h
    HSCAN
    SET s v
    HSCAN s 0
    HSCAN s x
    HSCAN s 0 FOO
    `,
  ),
  section(
    'many fields',
    `
    HSET h ${Array.from({ length: 300 }, (_, at) => `f${at} v${at}`).join(' ')}
    HLEN h
    HGET h f299
    HDEL h ${Array.from({ length: 250 }, (_, at) => `f${at}`).join(' ')}
    HLEN h
    HSET h f0 again
    ~unordered HKEYS h
    ~pairs HGETALL h
    HSET h long {x*100}
    HSTRLEN h long
    `,
  ),
  newerSection(
    'HEXPIRE and HTTL',
    redis74,
    `
    HSET h a 1 b 2 c 3
      = 3
    HEXPIRE h 100 FIELDS 1 a
      = [1]
    HTTL h FIELDS 3 a b nope
      = [100, -1, -2]
    HPTTL h FIELDS 2 a b
      = [100000, -1]
    hexpire h 50 fields 2 a nope
      = [1, -2]
    HTTL h FIELDS 1 a
      = [50]
    HPEXPIRE h 1500 FIELDS 2 b c
      = [1, 1]
    HPTTL h FIELDS 2 b c
      = [1500, 1500]
    HTTL h FIELDS 1 b
      = [2]
    @advance 1000
    HPTTL h FIELDS 1 b
      = [500]
    HTTL h FIELDS 1 b
      = [1]
    HGET h b
      = "2"
    @advance 499
    HGET h b
      = "2"
    @advance 1
    HGET h b
      = nil
    HLEN h
      = 1
    HGETALL h
      = ["a", "1"]
    HTTL h FIELDS 2 b c
      = [-2, -2]
    @advance 100000
    EXISTS h
      = 0
    TYPE h
      = +none
    HTTL h FIELDS 1 a
      = [-2]
    HTTL missing FIELDS 2 a b
      = [-2, -2]
    HEXPIRE missing 10 FIELDS 2 a b
      = [-2, -2]
    EXISTS missing
      = 0
    `,
  ),
  newerSection(
    'fields expire although nobody asks for them',
    redis74,
    `
    HSET h a 1 b 2
      = 2
    SET k v
      = +OK
    HPEXPIRE h 10 FIELDS 2 a b
      = [1, 1]
    DBSIZE
      = 2
    @advance 10
    DBSIZE
      = 1
    KEYS *
      = ["k"]
    HSET h a 1 b 2
      = 2
    HPEXPIRE h 10 FIELDS 1 a
      = [1]
    RENAME h moved
      = +OK
    COPY moved copied
      = 1
    HPTTL copied FIELDS 2 a b
      = [10, -1]
    @advance 10
    HKEYS moved
      = ["b"]
    HKEYS copied
      = ["b"]
    HPEXPIRE moved 10 FIELDS 1 b
      = [1]
    RENAME moved again
      = +OK
    @advance 10
    DBSIZE
      = 2
    EXISTS again
      = 0
    `,
  ),
  newerSection(
    'HEXPIREAT, HEXPIRETIME',
    redis74,
    `
    HSET h a 1 b 2 c 3
      = 3
    HEXPIREAT h {now+100} FIELDS 1 a
      = [1]
    HTTL h FIELDS 1 a
      = [100]
    HPEXPIREAT h {ms+2500} FIELDS 1 b
      = [1]
    HPTTL h FIELDS 1 b
      = [2500]
    HEXPIREAT h 4000000000 FIELDS 2 a b
      = [1, 1]
    HEXPIRETIME h FIELDS 4 a b c nope
      = [4000000000, 4000000000, -1, -2]
    HPEXPIRETIME h FIELDS 4 a b c nope
      = [4000000000000, 4000000000000, -1, -2]
    HPEXPIREAT h 4000000000001 FIELDS 1 a
      = [1]
    HEXPIRETIME h FIELDS 1 a
      = [4000000000] because store.md 7.2: rounded down
    HPEXPIRETIME h FIELDS 1 a
      = [4000000000001]
    HPEXPIREAT h 4000000000999 FIELDS 1 a
      = [1]
    HEXPIRETIME h FIELDS 1 a
      = [4000000000] because as above
    HEXPIREAT h {now-1} FIELDS 1 a
      = [2]
    HPEXPIREAT h {ms} FIELDS 2 b nope
      = [2, -2]
    HKEYS h
      = ["c"]
    HEXPIREAT h 1 FIELDS 1 c
      = [2]
    EXISTS h
      = 0
    HSET h a 1
      = 1
    HEXPIRE h 0 FIELDS 1 a
      = [2]
    EXISTS h
      = 0
    HEXPIRETIME missing FIELDS 1 a
      = [-2]
    HPEXPIRETIME missing FIELDS 2 a a
      = [-2, -2]
    `,
  ),
  newerSection(
    'conditions of HEXPIRE',
    redis74,
    `
    HSET h a 1 b 2
      = 2
    HEXPIRE h 100 XX FIELDS 1 a
      = [0]
    HEXPIRE h 100 GT FIELDS 1 a
      = [0]
    HEXPIRE h 100 NX FIELDS 2 a nope
      = [1, -2]
    HEXPIRE h 200 NX FIELDS 2 a b
      = [0, 1]
    HEXPIRE h 50 GT FIELDS 1 a
      = [0]
    HEXPIRE h 100 GT FIELDS 1 a
      = [0]
    HEXPIRE h 150 gt FIELDS 1 a
      = [1]
    HEXPIRE h 200 LT FIELDS 1 a
      = [0]
    HEXPIRE h 150 LT FIELDS 1 a
      = [0]
    HEXPIRE h 60 LT FIELDS 1 a
      = [1]
    HEXPIRE h 70 XX FIELDS 1 a
      = [1]
    HTTL h FIELDS 2 a b
      = [70, 200]
    HSET h c 3
      = 1
    HEXPIRE h 80 LT FIELDS 1 c
      = [1]
    HEXPIRE h 0 GT FIELDS 1 c
      = [0]
    HEXPIRE h 0 LT FIELDS 1 c
      = [2]
    HPEXPIRE h 90000 XX FIELDS 2 a c
      = [1, -2]
    HEXPIREAT h {now+5} NX FIELDS 1 a
      = [0]
    HPEXPIREAT h {ms+5000} LT FIELDS 1 a
      = [1]
    HTTL h FIELDS 1 a
      = [5]
    `,
  ),
  newerSection(
    'what keeps and what drops the deadline of a field',
    redis74,
    `
    HSET h a 1 b 2 n 5
      = 3
    HEXPIRE h 100 FIELDS 3 a b n
      = [1, 1, 1]
    HSET h a new
      = 0
    HINCRBY h n 1
      = 6
    HINCRBYFLOAT h n 0.5
      = "6.5"
    HTTL h FIELDS 3 a b n
      = [-1, 100, 100]
    HSETNX h b x
      = 0
    HMSET h b x
      = +OK
    HTTL h FIELDS 1 b
      = [-1]
    HDEL h n
      = 1
    HSET h n 1
      = 1
    HTTL h FIELDS 1 n
      = [-1]
    HEXPIRE h 100 FIELDS 1 a
      = [1]
    HPERSIST h FIELDS 3 a b nope
      = [1, -1, -2]
    HTTL h FIELDS 1 a
      = [-1]
    HPERSIST h FIELDS 1 a
      = [-1]
    HPERSIST missing FIELDS 2 a b
      = [-2, -2]
    HEXPIRE h 1 FIELDS 1 a
      = [1]
    HPERSIST h FIELDS 1 a
      = [1]
    @advance 5000
    HGET h a
      = "new"
    EXPIRE h 100
      = 1
    HEXPIRE h 10 FIELDS 1 a
      = [1]
    TTL h
      = 100
    `,
  ),
  newerSection(
    'mistakes of the HEXPIRE family',
    redis74,
    `
    HSET h a 1
      = 1
    HEXPIRE h 10 FIELD 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HEXPIRE h 10 a FIELDS 1
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HEXPIRE h 10 NX GT FIELDS 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HEXPIRE h 10 NX FIELDS 1
      = -ERR The \`numfields\` parameter must match the number of arguments
    HEXPIRE h 10 FIELDS 2 a
      = -ERR The \`numfields\` parameter must match the number of arguments
    HEXPIRE h 10 FIELDS 1 a b
      = -ERR The \`numfields\` parameter must match the number of arguments
    HEXPIRE h 10 FIELDS 0 a
      = -ERR Parameter \`numFields\` should be greater than 0
    HEXPIRE h 10 FIELDS -1 a
      = -ERR Parameter \`numFields\` should be greater than 0
    HEXPIRE h 10 FIELDS x a
      = -ERR Parameter \`numFields\` should be greater than 0
    HEXPIRE h x FIELDS 1 a
      = -ERR value is not an int or out of range
    HEXPIRE h 1.5 FIELDS 1 a
      = -ERR value is not an int or out of range
    HEXPIRE h -1 FIELDS 1 a
      = -ERR invalid expire time, must be >= 0
    HPEXPIREAT h -1 FIELDS 1 a
      = -ERR invalid expire time, must be >= 0
    HEXPIRE h 9223372036854775807 FIELDS 1 a
      = -ERR invalid expire time in 'hexpire' command
    HPEXPIRE h 9223372036854775807 FIELDS 1 a
      = -ERR invalid expire time in 'hpexpire' command
    HEXPIREAT h 9223372036854775807 FIELDS 1 a
      = -ERR invalid expire time in 'hexpireat' command
    HPEXPIREAT h 70368744177664 FIELDS 1 a
      = [1] because store.md 7.2: as late as HEXPIREAT takes it
    HEXPIREAT h 1700000000000 FIELDS 1 a
      = [1] because store.md 7.2
    HPEXPIRETIME h FIELDS 1 a
      = [1700000000000000] because as above
    HPEXPIREAT h 70368744177663 FIELDS 1 a
      = [1]
    HEXPIRE h 10 FIELDS 1
      = -ERR wrong number of arguments for 'hexpire' command
    HEXPIRE h 10
      = -ERR wrong number of arguments for 'hexpire' command
    HPEXPIRE
      = -ERR wrong number of arguments for 'hpexpire' command
    HTTL h FIELD 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HTTL h FIELDS 2 a
      = -ERR The \`numfields\` parameter must match the number of arguments
    HPTTL h FIELDS 0 a
      = -ERR Number of fields must be a positive integer
    HPERSIST h FIELDS x a
      = -ERR Number of fields must be a positive integer
    HPERSIST h FIELDS 1 a b
      = -ERR The \`numfields\` parameter must match the number of arguments
    HPERSIST h FOO 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HEXPIRETIME h FIELDS 1
      = -ERR wrong number of arguments for 'hexpiretime' command
    HPEXPIRETIME h
      = -ERR wrong number of arguments for 'hpexpiretime' command
    HPERSIST h
      = -ERR wrong number of arguments for 'hpersist' command
    SET s v
      = +OK
    HEXPIRE s 10 FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    HEXPIRE s x FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    HTTL s FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    HPERSIST s FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    HEXPIRETIME s FOO 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  newerSection(
    'HGETDEL',
    redis80,
    `
    HSET h a 1 b 2 c 3
      = 3
    HGETDEL h FIELDS 1 a
      = ["1"]
    HGETDEL h FIELDS 2 a b
      = [nil, "2"]
    HGETALL h
      = ["c", "3"]
    hgetdel h fields 2 c c
      = ["3", nil]
    EXISTS h
      = 0
    HGETDEL missing FIELDS 2 a b
      = [nil, nil]
    HSET h a 1
      = 1
    HGETDEL h FIELDS 2 a
      = -ERR The \`numfields\` parameter must match the number of arguments
    HGETDEL h FIELDS 0 a
      = -ERR Number of fields must be a positive integer
    HGETDEL h FIELDS x a
      = -ERR Number of fields must be a positive integer
    HGETDEL h FOO 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HGETDEL h FIELDS 1
      = -ERR wrong number of arguments for 'hgetdel' command
    HGETDEL h
      = -ERR wrong number of arguments for 'hgetdel' command
    SET s v
      = +OK
    HGETDEL s FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  newerSection(
    'HGETEX',
    redis80,
    `
    HSET h a 1 b 2 c 3
      = 3
    HGETEX h FIELDS 2 a nope
      = ["1", nil]
    HTTL h FIELDS 1 a
      = [-1]
    HGETEX h EX 100 FIELDS 2 a nope
      = ["1", nil]
    HGETEX h px 1500 FIELDS 1 b
      = ["2"]
    HPTTL h FIELDS 3 a b c
      = [100000, 1500, -1]
    HGETEX h FIELDS 1 a
      = ["1"]
    HTTL h FIELDS 1 a
      = [100]
    HGETEX h PERSIST FIELDS 2 a c
      = ["1", "3"]
    HTTL h FIELDS 1 a
      = [-1]
    HGETEX h EXAT 4000000000 FIELDS 1 a
      = ["1"]
    HEXPIRETIME h FIELDS 1 a
      = [4000000000]
    HGETEX h PXAT 4000000000001 FIELDS 1 a
      = ["1"]
    HPEXPIRETIME h FIELDS 1 a
      = [4000000000001]
    HGETEX h EXAT 1 FIELDS 1 a
      = ["1"]
    HGETEX h EX 0 FIELDS 1 c
      = ["3"]
    HKEYS h
      = ["b"]
    @advance 1500
    EXISTS h
      = 0
    HGETEX missing EX 10 FIELDS 2 a b
      = [nil, nil]
    EXISTS missing
      = 0
    HSET h a 1
      = 1
    HGETEX h EX x FIELDS 1 a
      = -ERR value is not an int or out of range
    HGETEX h EX -1 FIELDS 1 a
      = -ERR invalid expire time, must be >= 0
    HGETEX h EX 9223372036854775807 FIELDS 1 a
      = -ERR invalid expire time in 'hgetex' command
    HGETEX h EX 10 PERSIST FIELDS 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HGETEX h KEEPTTL FIELDS 1 a
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HGETEX h EX 10 FIELDS 2 a
      = -ERR The \`numfields\` parameter must match the number of arguments
    HGETEX h FIELDS 0 a
      = -ERR Number of fields must be a positive integer
    HGETEX h EX 10 FIELDS
      = -ERR The \`numfields\` parameter must match the number of arguments
    HGETEX h FIELDS 1
      = -ERR wrong number of arguments for 'hgetex' command
    HTTL h FIELDS 1 a
      = [-1]
    SET s v
      = +OK
    HGETEX s FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    HGETEX s EX x FIELDS 1 a
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
  newerSection(
    'HSETEX',
    redis80,
    `
    HSETEX h FIELDS 1 a 1
      = 1
    HSETEX h EX 100 FIELDS 2 a 2 b 3
      = 1
    HGETALL h
      = ["a", "2", "b", "3"]
    HTTL h FIELDS 2 a b
      = [100, 100]
    HSETEX h KEEPTTL FIELDS 1 a 4
      = 1
    HTTL h FIELDS 1 a
      = [100]
    HSETEX h FIELDS 1 a 5
      = 1
    HTTL h FIELDS 2 a b
      = [-1, 100]
    hsetex h px 1500 fields 1 a 6
      = 1
    HPTTL h FIELDS 1 a
      = [1500]
    HSETEX h EXAT 4000000000 FIELDS 1 a 7
      = 1
    HEXPIRETIME h FIELDS 1 a
      = [4000000000]
    HSETEX h PXAT 4000000000001 FIELDS 1 a 8
      = 1
    HPEXPIRETIME h FIELDS 1 a
      = [4000000000001]
    HSETEX h FNX FIELDS 2 a 9 new 1
      = 0
    HSETEX h FNX FIELDS 2 c 1 d 2
      = 1
    HSETEX h FXX FIELDS 2 c 3 nope 1
      = 0
    HSETEX h FXX EX 10 FIELDS 2 c 3 d 4
      = 1
    HSETEX h EX 20 FXX FIELDS 1 c 5
      = 1
    HTTL h FIELDS 2 c d
      = [20, 10]
    HMGET h a b c d
      = ["8", "3", "5", "4"]
    HSETEX missing FXX FIELDS 1 a 1
      = 0
    EXISTS missing
      = 0
    HSETEX missing FNX EX 10 FIELDS 1 a 1
      = 1
    HTTL missing FIELDS 1 a
      = [10]
    HSETEX past EXAT 1 FIELDS 1 a 1
      = 1
    EXISTS past
      = 0
    HSETEX h EX 0 FIELDS 1 a 1
      = 1
    HEXISTS h a
      = 0
    HSETEX h EX 10 PX 10 FIELDS 1 a 1
      = -ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
    HSETEX h KEEPTTL EX 10 FIELDS 1 a 1
      = -ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
    HSETEX h FNX FXX FIELDS 1 a 1
      = -ERR Only one of FXX or FNX arguments can be specified
    HSETEX h EX x FIELDS 1 a 1
      = -ERR value is not an int or out of range
    HSETEX h EX -1 FIELDS 1 a 1
      = -ERR invalid expire time, must be >= 0
    HSETEX h EX 9223372036854775807 FIELDS 1 a 1
      = -ERR invalid expire time in 'hsetex' command
    HSETEX h FOO FIELDS 1 a 1
      = -ERR Mandatory argument FIELDS is missing or not at the right position
    HSETEX h FIELDS 2 a 1
      = -ERR The \`numfields\` parameter must match the number of arguments
    HSETEX h FIELDS 1 a 1 b
      = -ERR The \`numfields\` parameter must match the number of arguments
    HSETEX h FIELDS 0 a 1
      = -ERR Number of fields must be a positive integer
    HSETEX h FIELDS x a 1
      = -ERR Number of fields must be a positive integer
    HSETEX h FIELDS 1 a
      = -ERR wrong number of arguments for 'hsetex' command
    HSETEX h
      = -ERR wrong number of arguments for 'hsetex' command
    EXISTS a
      = 0
    SET s v
      = +OK
    HSETEX s FIELDS 1 a 1
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    HSETEX s FOO FIELDS 1 a 1
      = -WRONGTYPE Operation against a key holding the wrong kind of value
    `,
  ),
]
