import { type Section, section } from '../support/steps.js'

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `${from + at} m${from + at}`).join(' ')

export const steps: readonly Section[] = [
  section(
    'ZADD',
    `
    ZADD z 1 a
    ZADD z 1 a
    ZADD z 2 a
    ZADD z 3 b 4 c
    ZADD z 5 b 5 d 5 e
    ZADD z 1 x 2 x 3 x
    ZSCORE z x
    ZRANGE z 0 -1 WITHSCORES
    ZCARD z
    TYPE z
    ZADD z 1.5 half -1 minus +2 plus .5 point 5. dot 1e3 exp 0x10 hex
    ZADD z inf pinf -inf ninf +Infinity also -infinity neg
    ZRANGE z 0 -1 WITHSCORES
    ZADD z -0 zero
    ZSCORE z zero
    ZADD z 0.1 tenth 3.0000000000000004 third 1e17 big 123456789012345680000 bigger 1e-7 small 5e-324 tiny 1.7976931348623157e308 huge
    ZRANGE z 0 -1 WITHSCORES
    ZADD bin 1 "\\x00" 1 "\\xff" 1 "" 1 " "
    ZRANGE bin 0 -1
    ZADD z nan a
    ZADD z x a
    ZADD z "" a
    ZADD z " 1" a
    ZADD z "1 " a
    ZADD z 1e400 a
    ZADD z 1e-400 a
    ZADD z 1_0 a
    ZADD z 1 a x b
    ZADD new x a
    EXISTS new
    ZADD z 1
    ZADD z 1 a 2
    ZADD z
    ZADD
    SET s v
    ZADD s 1 a
    ZADD s x a
    `,
  ),
  section(
    'ZADD with conditions',
    `
    ZADD z NX 1 a
    ZADD z NX 2 a
    ZADD z NX 2 a 3 b
    ZADD z XX 5 a
    ZADD z XX 5 nope
    ZADD z XX 6 a 7 nope
    ZRANGE z 0 -1 WITHSCORES
    ZADD z CH 6 a
    ZADD z CH 7 a 8 c
    ZADD z XX CH 8 a 9 nope
    ZADD z NX CH 9 a 9 d
    ZADD z GT 1 a
    ZADD z GT CH 1 a
    ZADD z GT CH 10 a
    ZADD z GT CH 10 a
    ZADD z LT CH 11 a
    ZADD z LT CH 2 a
    ZADD z GT 3 new1
    ZADD z LT 3 new2
    ZADD z GT XX 99 new3
    ZADD z LT XX CH 1 a
    ZADD z xx gt ch 50 a
    ZADD z ch ch nx nx 50 aa
    ZRANGE z 0 -1 WITHSCORES
    ZADD z NX XX 1 a
    ZADD z XX NX 1 a
    ZADD z NX GT 1 a
    ZADD z NX LT 1 a
    ZADD z GT LT 1 a
    ZADD z GT LT XX 1 a
    ZADD z NX XX GT 1 a
    ZADD missing XX 1 a
    ZADD missing XX CH 1 a
    EXISTS missing
    ZADD z NX
    ZADD z NX 1
    ZADD z NX CH
    ZADD z NX CH XX
    ZADD z 1 a NX
    ZADD z NX XX 1
    ZADD z FOO 1 a
    ZADD z CH
    ZADD z NX x a
    ZADD z XX x nope
    `,
  ),
  section(
    'ZADD INCR and ZINCRBY',
    `
    ZADD z INCR 1 a
    ZADD z INCR 2.5 a
    ZADD z INCR -10 a
    ZADD z INCR 0 a
    ZADD z NX INCR 1 a
    ZADD z NX INCR 1 b
    ZADD z XX INCR 1 b
    ZADD z XX INCR 1 nope
    ZADD z GT INCR -1 b
    ZADD z GT INCR 1 b
    ZADD z GT INCR 0 b
    ZADD z LT INCR 1 b
    ZADD z LT INCR -1 b
    ZADD z CH INCR 1 b
    ZADD missing XX INCR 1 a
    EXISTS missing
    ZADD z INCR 1 a 2 b
    ZADD z INCR x a
    ZADD z INCR nan a
    ZADD z INCR inf i
    ZADD z INCR -inf i
    ZADD z INCR -inf j
    ZADD z INCR inf j
    ZINCRBY z 1 a
    ZINCRBY z 0.1 f
    ZINCRBY z 0.2 f
    ZINCRBY z -1 nope
    ZINCRBY z inf i
    ZINCRBY z -inf i
    ZINCRBY z nan a
    ZINCRBY z x a
    ZINCRBY z 1e400 a
    ZINCRBY fresh 5 a
    ZRANGE z 0 -1 WITHSCORES
    ZINCRBY z 1
    ZINCRBY z 1 a b
    ZINCRBY
    SET s v
    ZINCRBY s 1 a
    ZINCRBY s x a
    ZADD s INCR 1 a
    ZADD s XX INCR 1 a
    `,
  ),
  section(
    'ZREM, ZCARD, ZSCORE, ZMSCORE',
    `
    ZADD z 1 a 2 b 3 c 2.5 d
    ZREM z a
    ZREM z a
    ZREM z nope b x c
    ZCARD z
    ZSCORE z d
    ZSCORE z a
    ZSCORE missing a
    ZMSCORE z d a d
    ZMSCORE missing a b
    ZREM z d
    EXISTS z
    ZREM missing a
    ZCARD missing
    ZREM z
    ZREM
    ZCARD
    ZCARD z z
    ZSCORE z
    ZSCORE z a b
    ZMSCORE z
    SET s v
    ZREM s a
    ZCARD s
    ZSCORE s a
    ZMSCORE s a b
    `,
  ),
  section(
    'ZRANK and ZREVRANK',
    `
    ZADD z 1 a 2 b 2 c 3 d
    ZRANK z a
    ZRANK z b
    ZRANK z c
    ZRANK z d
    ZREVRANK z a
    ZREVRANK z b
    ZREVRANK z d
    ZRANK z nope
    ZREVRANK z nope
    ZRANK missing a
    ZREVRANK missing a
    ZRANK z a WITHSCORE
      = [0, "1"] because store.md 7.2: redis 7.2 added it
    zrank z c withscore
      = [2, "2"] because store.md 7.2: redis 7.2 added it
    ZREVRANK z a WITHSCORE
      = [3, "1"] because store.md 7.2: redis 7.2 added it
    ZRANK z nope WITHSCORE
      = nilarray because redis src: the nil of an array
    ZREVRANK missing a WITHSCORE
      = nilarray because redis src: the nil of an array
    ZRANK z a WITHSCORES
      = -ERR syntax error because redis src
    ZRANK z a WITHSCORE x
    ZRANK z
    ZRANK
    SET s v
    ZRANK s a
    ZREVRANK s a
    `,
  ),
  section(
    'ZCOUNT and ZLEXCOUNT',
    `
    ZADD z 1 a 2 b 2 c 3 d inf e -inf f
    ZCOUNT z -inf +inf
    ZCOUNT z 1 3
    ZCOUNT z (1 3
    ZCOUNT z 1 (3
    ZCOUNT z (1 (3
    ZCOUNT z (2 (2
    ZCOUNT z 2 2
    ZCOUNT z 3 1
    ZCOUNT z (-inf (inf
    ZCOUNT z 1.5 2.5
    ZCOUNT z 100 200
    ZCOUNT z -200 -100
    ZCOUNT z "" 5
    ZCOUNT z ( 5
    ZCOUNT z " 1" 5
    ZCOUNT z x 5
    ZCOUNT z 5 x
    ZCOUNT z 1 nan
    ZCOUNT z [1 2
    ZCOUNT z - +
    ZCOUNT missing 1 2
    ZCOUNT missing x 2
    ZCOUNT z 1
    ZCOUNT z 1 2 3
    ZADD l 0 a 0 b 0 c 0 d 0 aa 0 ""
    ZLEXCOUNT l - +
    ZLEXCOUNT l [b [c
    ZLEXCOUNT l (b [c
    ZLEXCOUNT l [b (c
    ZLEXCOUNT l (a (aa
    ZLEXCOUNT l [a [aa
    ZLEXCOUNT l [c [a
    ZLEXCOUNT l + -
    ZLEXCOUNT l - -
    ZLEXCOUNT l + +
    ZLEXCOUNT l [ (
    ZLEXCOUNT l - [
    ZLEXCOUNT l b c
    ZLEXCOUNT l [b c
    ZLEXCOUNT l "" +
    ZLEXCOUNT l -- +
    ZLEXCOUNT missing - +
    ZLEXCOUNT missing x y
    ZLEXCOUNT l -
    ZLEXCOUNT l - + x
    SET s v
    ZCOUNT s 1 2
    ZCOUNT s x 2
    ZLEXCOUNT s - +
    ZLEXCOUNT s x y
    `,
  ),
  section(
    'ZRANGE by rank',
    `
    ZADD z 1 a 2 b 3 c 4 d 5 e
    ZRANGE z 0 -1
    ZRANGE z 0 -1 WITHSCORES
    ZRANGE z 1 3
    ZRANGE z 3 1
    ZRANGE z -2 -1
    ZRANGE z -100 1
    ZRANGE z 3 100
    ZRANGE z 5 10
    ZRANGE z 0 -6
    ZRANGE z 0 0 REV
    ZRANGE z 0 -1 REV
    ZRANGE z 1 2 REV WITHSCORES
    ZRANGE z 1 2 withscores rev
    ZRANGE z 1 2 WITHSCORES WITHSCORES
    ZRANGE z 0 -1 LIMIT 0 -1
    ZRANGE z 0 -1 LIMIT 1 2
      = ["b", "c"] because store.md 7.2
    ZRANGE z 1 3 LIMIT 1 1
      = ["c"] because as above
    ZRANGE z 1 3 LIMIT 1 5 WITHSCORES
      = ["c", "3", "d", "4"] because as above
    ZRANGE z -2 -1 LIMIT 0 1
      = ["d"] because as above
    ZRANGE z 0 2 REV LIMIT 1 1
      = ["d"] because as above
    ZRANGE z 0 -1 LIMIT 2 -1
      = ["c", "d", "e"] because as above
    ZRANGE z 0 -1 LIMIT -1 2
      = [] because as above
    ZRANGE z 0 -1 LIMIT 0 0
      = [] because as above
    ZRANGE missing 0 -1 LIMIT 0 1
      = [] because as above
    ZRANGE z 0 -1 LIMIT 1 x
    ZRANGE z 0 -1 LIMIT x 1
    ZRANGE z 0 -1 LIMIT 1
    ZRANGE z 0 -1 REV REV
    ZRANGE z 0 -1 FOO
    ZRANGE z x 1
    ZRANGE z 1 x
    ZRANGE z 1.5 2
    ZRANGE z (1 2
    ZRANGE z 0 9223372036854775807
    ZRANGE z 0 9223372036854775808
    ZRANGE missing 0 -1
    ZRANGE missing x 1
    ZRANGE missing 0 -1 FOO
    ZRANGE z 0
    ZRANGE
    ZREVRANGE z 0 -1
    ZREVRANGE z 0 1 WITHSCORES
    ZREVRANGE z -2 -1
    ZREVRANGE z 3 100
    ZREVRANGE z 0 1 REV
    ZREVRANGE z 0 1 BYSCORE
    ZREVRANGE z 0 1 LIMIT 0 1
    ZREVRANGE z 0 1 LIMIT 0 -1
    ZREVRANGE z x 1
    ZREVRANGE z 0
    ZREVRANGE missing 0 -1
    SET s v
    ZRANGE s 0 -1
    ZRANGE s x 1
    ZREVRANGE s 0 -1
    `,
  ),
  section(
    'ZRANGE by score',
    `
    ZADD z 1 a 2 b 2 c 3 d 4 e inf f
    ZRANGE z 2 3 BYSCORE
    ZRANGE z (2 3 BYSCORE WITHSCORES
    ZRANGE z -inf +inf BYSCORE
    ZRANGE z 3 2 BYSCORE
    ZRANGE z 3 2 BYSCORE REV
    ZRANGE z 3 (2 REV BYSCORE WITHSCORES
    ZRANGE z +inf -inf BYSCORE REV LIMIT 1 2
    ZRANGE z -inf +inf BYSCORE LIMIT 0 2
    ZRANGE z -inf +inf BYSCORE LIMIT 2 2
    ZRANGE z -inf +inf BYSCORE LIMIT 2 -1
    ZRANGE z -inf +inf BYSCORE LIMIT 2 -5
    ZRANGE z -inf +inf BYSCORE LIMIT 0 0
    ZRANGE z -inf +inf BYSCORE LIMIT 100 1
    ZRANGE z -inf +inf BYSCORE LIMIT -1 2
    ZRANGE z -inf +inf BYSCORE LIMIT 0 100 WITHSCORES
    ZRANGE z +inf -inf BYSCORE REV LIMIT -1 2
    ZRANGE z +inf -inf BYSCORE REV LIMIT 4 9
    ZRANGE z -inf +inf BYSCORE LIMIT 1
    ZRANGE z -inf +inf BYSCORE LIMIT
    ZRANGE z -inf +inf BYSCORE LIMIT a b
    ZRANGE z -inf +inf BYSCORE LIMIT 0 9223372036854775808
    ZRANGE z -inf +inf BYSCORE BYLEX
    ZRANGE z -inf +inf BYSCORE BYSCORE
    ZRANGE z x 2 BYSCORE
    ZRANGE z 2 x BYSCORE
    ZRANGE z 2 3 BYSCORE FOO
    ZRANGEBYSCORE z 2 3
    ZRANGEBYSCORE z (2 (3
    ZRANGEBYSCORE z (2 4 WITHSCORES
    ZRANGEBYSCORE z -inf inf LIMIT 1 2
    ZRANGEBYSCORE z -inf inf WITHSCORES LIMIT 1 2
    ZRANGEBYSCORE z -inf inf LIMIT 1 2 withscores
    ZRANGEBYSCORE z 5 1
    ZRANGEBYSCORE z 2 2
    ZRANGEBYSCORE z (inf inf
    ZRANGEBYSCORE z 0 1 REV
    ZRANGEBYSCORE z 0 1 BYSCORE
    ZRANGEBYSCORE z x 1
    ZRANGEBYSCORE z 1 x
    ZRANGEBYSCORE z 1 2 LIMIT 1
    ZRANGEBYSCORE z 1 2 LIMIT 1 x
    ZRANGEBYSCORE z 1
    ZRANGEBYSCORE missing 1 2
    ZRANGEBYSCORE missing x 2
    ZREVRANGEBYSCORE z 3 2
    ZREVRANGEBYSCORE z 3 (2 WITHSCORES
    ZREVRANGEBYSCORE z 2 3
    ZREVRANGEBYSCORE z +inf -inf LIMIT 1 3
    ZREVRANGEBYSCORE z +inf (1 LIMIT 0 -1 WITHSCORES
    ZREVRANGEBYSCORE z x 1
    ZREVRANGEBYSCORE z 1
    ZREVRANGEBYSCORE missing 2 1
    SET s v
    ZRANGE s 1 2 BYSCORE
    ZRANGEBYSCORE s 1 2
    ZREVRANGEBYSCORE s 2 1
    ZRANGEBYSCORE s x 2
    `,
  ),
  section(
    'ZRANGE by bytes',
    `
    ZADD z 0 a 0 b 0 c 0 d 0 aa 0 "" 0 "\\xff"
    ZRANGE z - + BYLEX
    ZRANGE z [a (c BYLEX
    ZRANGE z (a [c BYLEX
    ZRANGE z + - BYLEX
    ZRANGE z + - BYLEX REV
    ZRANGE z [c (a BYLEX REV
    ZRANGE z (c [a REV BYLEX LIMIT 1 1
    ZRANGE z - + BYLEX LIMIT 0 2
    ZRANGE z - + BYLEX LIMIT 2 3
    ZRANGE z - + BYLEX LIMIT -1 3
    ZRANGE z - + BYLEX LIMIT 1 -1
    ZRANGE z - + BYLEX LIMIT 0 0
    ZRANGE z [b [b BYLEX
    ZRANGE z (b (b BYLEX
    ZRANGE z - [ BYLEX
    ZRANGE z ( [a BYLEX
    ZRANGE z - + BYLEX WITHSCORES
    ZRANGE z - + WITHSCORES BYLEX LIMIT 0 1
    ZRANGE z a c BYLEX
    ZRANGE z [a c BYLEX
    ZRANGE z - "" BYLEX
    ZRANGE z 0 1 BYLEX
    ZRANGE z - + BYLEX LIMIT 1
    ZRANGE z - + BYLEX BYSCORE
    ZRANGEBYLEX z - +
    ZRANGEBYLEX z [a [c
    ZRANGEBYLEX z (a (c
    ZRANGEBYLEX z - + LIMIT 1 2
    ZRANGEBYLEX z + -
    ZRANGEBYLEX z a b
    ZRANGEBYLEX z - + WITHSCORES
    ZRANGEBYLEX z - + REV
    ZRANGEBYLEX z -
    ZRANGEBYLEX missing - +
    ZRANGEBYLEX missing a b
    ZREVRANGEBYLEX z + -
    ZREVRANGEBYLEX z [c (a
    ZREVRANGEBYLEX z + - LIMIT 1 2
    ZREVRANGEBYLEX z - +
    ZREVRANGEBYLEX z a b
    ZREVRANGEBYLEX z + - WITHSCORES
    ZREVRANGEBYLEX z +
    SET s v
    ZRANGE s - + BYLEX
    ZRANGEBYLEX s - +
    ZREVRANGEBYLEX s + -
    ZRANGEBYLEX s a b
    `,
  ),
  section(
    'ZRANGESTORE',
    `
    ZADD z 1 a 2 b 3 c 4 d
    ZRANGESTORE d z 0 -1
    ZRANGE d 0 -1 WITHSCORES
    ZRANGESTORE d z 1 2
    ZRANGE d 0 -1 WITHSCORES
    ZRANGESTORE d z 0 1 REV
    ZRANGE d 0 -1 WITHSCORES
    ZRANGESTORE d z (1 3 BYSCORE
    ZRANGE d 0 -1
    ZRANGESTORE d z +inf -inf BYSCORE REV LIMIT 1 2
    ZRANGE d 0 -1
    ZRANGESTORE d z - + BYLEX LIMIT 0 2
    ZRANGE d 0 -1
    ZRANGESTORE d z 10 20
    EXISTS d
    SET d string
    ZRANGESTORE d z 0 0
    TYPE d
    EXPIRE d 100
    ZRANGESTORE d z 0 0
    TTL d
    ZRANGESTORE d missing 0 -1
    EXISTS d
    ZRANGESTORE z z 0 1
    ZRANGE z 0 -1
    ZRANGESTORE d z 0 -1 WITHSCORES
    ZRANGESTORE d z 0 -1 LIMIT 1 2
      = 1 because store.md 7.2
    ZRANGE d 0 -1
      = ["b"] because as above
    ZRANGESTORE d z 0 -1 REV LIMIT 0 1
      = 1 because as above
    ZRANGE d 0 -1
      = ["b"] because as above
    ZRANGESTORE d z 0 -1 LIMIT 9 1
      = 0 because as above
    ZRANGESTORE d z x 1
    ZRANGESTORE d z a b BYLEX
    ZRANGESTORE d z x 1 BYSCORE
    ZRANGESTORE d missing x 1
    ZRANGESTORE d z 0 -1 FOO
    ZRANGESTORE d z 0
    ZRANGESTORE
    SET s v
    ZRANGESTORE d s 0 -1
    EXISTS d
    `,
  ),
  section(
    'ZREMRANGEBYRANK, BYSCORE, BYLEX',
    `
    ZADD z 1 a 2 b 3 c 4 d 5 e 6 f
    ZREMRANGEBYRANK z 0 1
    ZRANGE z 0 -1
    ZREMRANGEBYRANK z -1 -1
    ZREMRANGEBYRANK z 5 10
    ZREMRANGEBYRANK z 2 1
    ZRANGE z 0 -1
    ZREMRANGEBYRANK z 0 -1
    EXISTS z
    ZREMRANGEBYRANK z 0 -1
    ZREMRANGEBYRANK z x 1
    ZREMRANGEBYRANK z 0 x
    ZREMRANGEBYRANK z 0
    ZADD z 1 a 2 b 3 c 4 d 5 e 6 f
    ZREMRANGEBYSCORE z 2 3
    ZREMRANGEBYSCORE z (4 (6
    ZRANGE z 0 -1
    ZREMRANGEBYSCORE z 10 20
    ZREMRANGEBYSCORE z 3 1
    ZREMRANGEBYSCORE z -inf +inf
    EXISTS z
    ZREMRANGEBYSCORE z 1 2
    ZREMRANGEBYSCORE z x 1
    ZREMRANGEBYSCORE z 1 x
    ZREMRANGEBYSCORE z 1
    ZADD z 0 a 0 b 0 c 0 d 0 e
    ZREMRANGEBYLEX z [b (d
    ZREMRANGEBYLEX z (d +
    ZRANGE z 0 -1
    ZREMRANGEBYLEX z + -
    ZREMRANGEBYLEX z - +
    EXISTS z
    ZREMRANGEBYLEX z - +
    ZREMRANGEBYLEX z a b
    ZREMRANGEBYLEX z -
    SET s v
    ZREMRANGEBYRANK s 0 1
    ZREMRANGEBYRANK s x 1
    ZREMRANGEBYSCORE s 0 1
    ZREMRANGEBYLEX s - +
    `,
  ),
  section(
    'ZPOPMIN, ZPOPMAX',
    `
    ZADD z 1 a 2 b 3 c 4 d 5 e 6 f
    ZPOPMIN z
    ZPOPMAX z
    ZPOPMIN z 2
    ZPOPMAX z 1
    ZRANGE z 0 -1
    ZPOPMIN z 0
    ZPOPMAX z 0
    ZPOPMAX z 100
    EXISTS z
    ZPOPMIN z
    ZPOPMAX z 2
    ZPOPMIN missing 0
    ZADD z 1 a
    ZPOPMIN z -1
    ZPOPMIN z x
    ZPOPMAX z 1.5
    ZPOPMIN z 1 2
    ZPOPMIN missing -1
    ZPOPMIN missing x
    ZPOPMIN
    ZPOPMAX
    ZADD z 0.1 frac
    ZPOPMIN z
    SET s v
    ZPOPMIN s
    ZPOPMIN s 0
    ZPOPMAX s 1
    ZPOPMAX s x
    `,
  ),
  section(
    'ZMPOP',
    `
    ZADD a 1 x 2 y 3 z
    ZADD b 4 p 5 q
    ZMPOP 1 a MIN
    ZMPOP 1 a MAX
    ZMPOP 2 missing b MIN COUNT 1
    ZMPOP 2 a b max count 10
    EXISTS a
    ZMPOP 2 a b MIN COUNT 10
    ZMPOP 2 a b MIN
    ZMPOP 1 missing MAX COUNT 3
    ZADD a 1 x
    ZMPOP 0 a MIN
    ZMPOP -1 a MIN
    ZMPOP x a MIN
    ZMPOP 2 a MIN
    ZMPOP 3 a b MIN
    ZMPOP 1 a
    ZMPOP 1
    ZMPOP
    ZMPOP 1 a MIDDLE
    ZMPOP 1 a MIN COUNT
    ZMPOP 1 a MIN COUNT 0
    ZMPOP 1 a MIN COUNT -1
    ZMPOP 1 a MIN COUNT x
    ZMPOP 1 a MIN COUNT 1 COUNT 2
    ZMPOP 1 a MIN FOO 1
    ZMPOP 1 a b MIN
    SET s v
    ZMPOP 1 s MIN
    ZMPOP 2 missing s MIN
    ZMPOP 2 a s MAX
    EXISTS a
    `,
  ),
  section(
    'ZRANDMEMBER',
    `
    ZADD z 1.5 a
    ZRANDMEMBER z
    ZRANDMEMBER z 1
    ZRANDMEMBER z 5 WITHSCORES
    ZRANDMEMBER z -3
    ZRANDMEMBER z -2 WITHSCORES
    ZRANDMEMBER z 0
    ZRANDMEMBER z 0 WITHSCORES
    ZADD z 2 b 3 c
    ~shape ZRANDMEMBER z
    ~shape ZRANDMEMBER z 2
    ~shape ZRANDMEMBER z 2 withscores
    ~unordered ZRANDMEMBER z 3
    ~pairs ZRANDMEMBER z 10 WITHSCORES
    ~shape ZRANDMEMBER z -10
    ~shape ZRANDMEMBER z -4 WITHSCORES
    ZRANDMEMBER missing
    ZRANDMEMBER missing 1
    ZRANDMEMBER missing -1 WITHSCORES
    ZRANDMEMBER missing 1 FOO
    ZRANDMEMBER z x
    ZRANDMEMBER missing x
    ZRANDMEMBER z 1 FOO
    ZRANDMEMBER z 1 WITHVALUES
    ZRANDMEMBER z 1 WITHSCORES x
    ZRANDMEMBER z WITHSCORES
    ZRANDMEMBER z -9223372036854775808
    ZRANDMEMBER missing 9223372036854775807 WITHSCORES
    ZRANDMEMBER z 9223372036854775807 WITHSCORES
    ZRANDMEMBER z -9223372036854775807 WITHSCORES
    ZRANDMEMBER
    SET s v
    ZRANDMEMBER s
    ZRANDMEMBER s 1
    ZRANDMEMBER s x
    `,
  ),
  section(
    'ZUNION and ZUNIONSTORE',
    `
    ZADD a 1 x 2 y 3 z
    ZADD b 10 y 20 z 30 w
    SADD s x v
    ZUNION 1 a
    ZUNION 2 a b
    ZUNION 2 a b WITHSCORES
    ZUNION 2 a missing WITHSCORES
    ZUNION 1 missing
    ZUNION 2 a s WITHSCORES
    ZUNION 2 a a WITHSCORES
    ZUNION 2 a b WEIGHTS 2 3 WITHSCORES
    ZUNION 2 a b WEIGHTS 2 0.5 AGGREGATE SUM WITHSCORES
    ZUNION 2 a b AGGREGATE MIN WITHSCORES
    ZUNION 2 a b AGGREGATE MAX WITHSCORES
    zunion 2 a b weights 1 -1 aggregate max withscores
    ZUNION 2 a s WEIGHTS 1 5 WITHSCORES
    ZUNION 2 a b AGGREGATE MIN AGGREGATE MAX WITHSCORES
    ZADD i inf p
    ZADD j -inf p
    ZUNION 2 i j WITHSCORES
    ZUNION 1 i WEIGHTS 0 WITHSCORES
    ZUNION 1 i WEIGHTS -1 WITHSCORES
    ZUNION 2 a b WEIGHTS inf -inf WITHSCORES
    ZADD f 0.1 t
    ZADD g 0.2 t
    ZADD h 0.3 t 1 u
    ZUNION 3 f g h WITHSCORES
    ZUNION 0 a
    ZUNION -1 a
    ZUNION x a
    ZUNION 3 a b
    ZUNION 2 a b WEIGHTS 1
    ZUNION 2 a b WEIGHTS 1 x
    ZUNION 2 a b WEIGHTS 1 2 3
    ZUNION 2 a b WEIGHTS nan 1
    ZUNION 2 a b AGGREGATE AVG
    ZUNION 2 a b AGGREGATE
    ZUNION 2 a b FOO
    ZUNION 2 a b LIMIT 1
    ZUNION 1
    ZUNION
    ZUNIONSTORE d 2 a b
    ZRANGE d 0 -1 WITHSCORES
    ZUNIONSTORE d 2 a b WEIGHTS 2 3 AGGREGATE MAX
    ZRANGE d 0 -1 WITHSCORES
    ZUNIONSTORE a 2 a s
    ZRANGE a 0 -1 WITHSCORES
    ZUNIONSTORE d 1 missing
    EXISTS d
    SET str v
    ZUNIONSTORE str 1 a
    TYPE str
    EXPIRE str 100
    ZUNIONSTORE str 1 a
    TTL str
    ZUNIONSTORE d 1 a WITHSCORES
    ZUNIONSTORE d 0 a
    ZUNIONSTORE d x a
    ZUNIONSTORE d 2 a
    ZUNIONSTORE d 1 a FOO
    ZUNIONSTORE d
    SET str v
    ZUNION 1 str
    ZUNION 2 a str FOO
    ZUNIONSTORE d 2 missing str
    `,
  ),
  section(
    'ZINTER, ZINTERSTORE, ZINTERCARD',
    `
    ZADD a 1 x 2 y 3 z
    ZADD b 10 y 20 z 30 w
    SADD s y z v
    ZINTER 1 a
    ZINTER 2 a b
    ZINTER 2 a b WITHSCORES
    ZINTER 3 a b s WITHSCORES
    ZINTER 2 s s WITHSCORES
    ZINTER 2 a missing
    ZINTER 2 a b WEIGHTS 2 3 WITHSCORES
    ZINTER 2 a b AGGREGATE MIN WITHSCORES
    ZINTER 2 a b AGGREGATE MAX WITHSCORES
    ZINTER 2 a b WEIGHTS 10 1 AGGREGATE MAX WITHSCORES
    ZINTER 0 a
    ZINTER x a
    ZINTER 3 a b
    ZINTER 2 a b WEIGHTS 1 x
    ZINTER 2 a b FOO
    ZINTER 2 a b LIMIT 1
    ZINTER 1
    ZINTERSTORE d 2 a b
    ZRANGE d 0 -1 WITHSCORES
    ZINTERSTORE d 2 a b WEIGHTS 2 3 AGGREGATE MIN
    ZRANGE d 0 -1 WITHSCORES
    ZINTERSTORE d 2 a missing
    EXISTS d
    ZINTERSTORE b 2 a b
    ZRANGE b 0 -1 WITHSCORES
    ZINTERSTORE d 0 a
    ZINTERSTORE d 1 a WITHSCORES
    ZINTERSTORE d
    ZINTERCARD 1 a
    ZINTERCARD 2 a b
    ZINTERCARD 2 a s
    ZINTERCARD 2 a missing
    ZINTERCARD 2 a b LIMIT 1
    ZINTERCARD 2 a b LIMIT 0
    ZINTERCARD 2 a b limit 10
    ZINTERCARD 0 a
    ZINTERCARD x a
    ZINTERCARD 3 a b
    ZINTERCARD 2 a b LIMIT
    ZINTERCARD 2 a b LIMIT -1
    ZINTERCARD 2 a b LIMIT x
    ZINTERCARD 2 a b WITHSCORES
    ZINTERCARD 2 a b WEIGHTS 1 2
    ZINTERCARD 2 a b FOO 1
    ZINTERCARD 1
    ZINTERCARD
    SET str v
    ZINTER 1 str
    ZINTER 2 missing str
    ZINTERSTORE d 2 a str
    ZINTERCARD 2 a str
    ZINTERCARD 2 str a LIMIT -1
    `,
  ),
  section(
    'ZDIFF and ZDIFFSTORE',
    `
    ZADD a 1 x 2 y 3 z
    ZADD b 10 y
    SADD s z
    ZDIFF 1 a
    ZDIFF 2 a b
    ZDIFF 2 a b WITHSCORES
    ZDIFF 3 a b s WITHSCORES
    ZDIFF 2 a a
    ZDIFF 2 a missing withscores
    ZDIFF 2 missing a
    ZDIFF 2 s a WITHSCORES
    ZDIFF 2 s b WITHSCORES
    ZDIFF 0 a
    ZDIFF x a
    ZDIFF 3 a b
    ZDIFF 2 a b WEIGHTS 1 2
    ZDIFF 2 a b AGGREGATE MAX
    ZDIFF 2 a b FOO
    ZDIFF 1
    ZDIFF
    ZDIFFSTORE d 2 a b
    ZRANGE d 0 -1 WITHSCORES
    ZDIFFSTORE d 2 a a
    EXISTS d
    ZDIFFSTORE a 2 a b
    ZRANGE a 0 -1 WITHSCORES
    ZDIFFSTORE d 0 a
    ZDIFFSTORE d 2 a
    ZDIFFSTORE d 1 a WITHSCORES
    ZDIFFSTORE d
    SET str v
    ZDIFF 1 str
    ZDIFF 2 a str
    ZDIFFSTORE d 2 a str
    EXISTS d
    `,
  ),
  section(
    'ZSCAN',
    `
    ZADD z 1 a 2.5 b 3 aa inf c
    # kept in one piece: whole whatever COUNT says, by score
    ZADD piece 3 c 1 a 2 b 1 ab
    ZSCAN piece 0
    ZSCAN piece 0 COUNT 1
    ZSCAN piece 0 COUNT 1 MATCH a*
    ~scanpairs ZSCAN z 0
    ~scanpairs ZSCAN z 0 COUNT 100
    ~scanpairs ZSCAN z 0 MATCH a* COUNT 100
    ~scanpairs zscan z 0 count 100 match ?
    ~scanpairs ZSCAN z 0 MATCH nope COUNT 100
    ZSCAN missing 0
    ZSCAN missing 0 FOO
    ZSCAN missing x
    ZSCAN z x
    ZSCAN z -
    ZSCAN z 0 COUNT
    ZSCAN z 0 COUNT 0
    ZSCAN z 0 COUNT x
    ZSCAN z 0 MATCH
    ZSCAN z 0 FOO
    ZSCAN z 0 NOVALUES
    ZSCAN z
    ZSCAN
    SET s v
    ZSCAN s 0
    ZSCAN s x
    `,
  ),
  section(
    'many members',
    `
    ZADD z ${numbered(0, 600)}
    ZCARD z
    ZRANK z m599
    ZREVRANK z m0
    ZRANGE z 250 260 WITHSCORES
    ZRANGE z 250 260 REV
    ZCOUNT z 100 (400
    ZREMRANGEBYSCORE z 10 500
    ZRANGE z 5 15
    ZADD z -1 m599 -2 m598 1000 m0
    ZRANGE z 0 3 WITHSCORES
    ZRANGE z -3 -1 WITHSCORES
    ZREMRANGEBYRANK z 3 -4
    ZRANGE z 0 -1 WITHSCORES
    ZADD {long*40} 1 {x*100}
    ZRANGE {long*40} 0 -1
    `,
  ),
]
