import type { Looseness, Section, Step } from '../support/steps.js'
import { vendorScript } from './scripting/vendor-scripts.js'

/**
 * Scripts of the vendor's rate limiter, lock and analytics packages. redis-server 7.0 does not know their flag
 * `allow-key-locking`, so these steps run without it; another test uses it.
 */
const ratelimit = '@upstash/ratelimit'
const lock = '@upstash/lock'
const analytics = '@upstash/core-analytics'

function run(
  packageName: string,
  script: string | number,
  keys: readonly string[],
  args: readonly (string | number)[],
  ...loose: Looseness[]
): Step {
  const source = vendorScript(packageName, script).replace(/^#!lua flags=allow-key-locking/, '#!lua')
  return {
    text: `${packageName} ${script} ${JSON.stringify([keys, args])}`,
    argv: ['EVAL', source, String(keys.length), ...keys, ...args.map(String)],
    loose: new Set<Looseness>(['failure', ...loose]),
  }
}

function plain(line: string, ...loose: Looseness[]): Step {
  return { text: line, argv: line.split(' '), loose: new Set(loose) }
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const minute = 60_000
const start = 1_700_000_000_000

export const steps: readonly Section[] = [
  {
    title: 'fixed window',
    steps: [
      ...times(6, () => run(ratelimit, 'fixedWindowLimitScript', ['fixed', ''], [5, minute, 1])),
      plain('PTTL fixed', 'near'),
      run(ratelimit, 'fixedWindowRemainingTokensScript', ['fixed', ''], [5]),
      run(ratelimit, 'fixedWindowRemainingTokensScript', ['other', ''], [5]),
      run(ratelimit, 'fixedWindowLimitScript', ['fixed'], [5, minute, 10]),
      plain('SET dynamic 100'),
      run(ratelimit, 'fixedWindowLimitScript', ['fixed', 'dynamic'], [5, minute, 1]),
      run(ratelimit, 'fixedWindowRemainingTokensScript', ['fixed', 'dynamic'], [5]),
      run(ratelimit, 'fixedWindowLimitScript', ['fixed', ''], [5, minute, -3]),
      run(ratelimit, 'fixedWindowLimitScript', ['fixed', ''], [5, minute, 'x']),
    ],
  },
  {
    title: 'sliding window',
    steps: [
      ...times(6, (index) =>
        run(ratelimit, 'slidingWindowLimitScript', ['now', 'before', ''], [5, start + index * 100, minute, 1]),
      ),
      plain('PTTL now', 'near'),
      run(ratelimit, 'slidingWindowRemainingTokensScript', ['now', 'before', ''], [5, start, minute]),
      ...times(8, (index) =>
        run(ratelimit, 'slidingWindowLimitScript', ['next', 'now', ''], [5, start + minute + index * 9000, minute, 1]),
      ),
      run(ratelimit, 'slidingWindowRemainingTokensScript', ['next', 'now', ''], [5, start + minute + 30_000, minute]),
      run(ratelimit, 'slidingWindowLimitScript', ['next', 'now', ''], [5, start + minute, minute, -2]),
      plain('SET dynamic 100'),
      run(ratelimit, 'slidingWindowLimitScript', ['next', 'now', 'dynamic'], [5, start + minute, minute, 1]),
      run(ratelimit, 'slidingWindowRemainingTokensScript', ['next', 'now', 'dynamic'], [5, start + minute, minute]),
    ],
  },
  {
    title: 'token bucket',
    steps: [
      ...times(7, (index) =>
        run(ratelimit, 'tokenBucketLimitScript', ['bucket', ''], [5, 1000, 2, start + index * 150, 1]),
      ),
      plain('HGETALL bucket'),
      plain('PTTL bucket', 'near'),
      run(ratelimit, 'tokenBucketRemainingTokensScript', ['bucket', ''], [5]),
      run(ratelimit, 'tokenBucketRemainingTokensScript', ['none', ''], [5]),
      run(ratelimit, 'tokenBucketLimitScript', ['bucket', ''], [5, 1000, 2, start + 5000, 1]),
      run(ratelimit, 'tokenBucketLimitScript', ['bucket', ''], [5, 1000, 2, start + 5000, 9]),
      run(ratelimit, 'tokenBucketLimitScript', ['bucket', ''], [5, 1000, 2, start + 5000, -2]),
      plain('SET dynamic 50'),
      run(ratelimit, 'tokenBucketLimitScript', ['bucket', 'dynamic'], [5, 1000, 2, start + 9000, 3]),
      run(ratelimit, 'tokenBucketRemainingTokensScript', ['bucket', 'dynamic'], [5]),
    ],
  },
  {
    title: 'cached fixed window',
    steps: [
      ...times(3, () => run(ratelimit, 'cachedFixedWindowLimitScript', ['cached'], [minute, 1])),
      plain('PTTL cached'),
      run(ratelimit, 'cachedFixedWindowRemainingTokenScript', ['cached'], []),
      run(ratelimit, 'cachedFixedWindowRemainingTokenScript', ['none'], []),
    ],
  },
  {
    title: 'several regions',
    steps: [
      ...times(3, (index) => run(ratelimit, 'fixedWindowLimitScript2', ['multi'], [`id-${index}`, minute, 1], 'pairs')),
      plain('PTTL multi', 'near'),
      run(ratelimit, 'fixedWindowRemainingTokensScript2', ['multi'], [], 'pairs'),
      ...times(6, (index) =>
        run(ratelimit, 'slidingWindowLimitScript2', ['m-now', 'm-before'], [4, start + index, minute, `r-${index}`, 1]),
      ),
      plain('PTTL m-now', 'near'),
      run(ratelimit, 'slidingWindowRemainingTokensScript2', ['m-now', 'm-before'], [start, minute]),
      run(ratelimit, 'slidingWindowLimitScript2', ['m-next', 'm-now'], [4, start + minute, minute, 'r-9', 1]),
      run(ratelimit, 'slidingWindowRemainingTokensScript2', ['m-next', 'm-now'], [start + minute + 40_000, minute]),
    ],
  },
  {
    title: 'reset and deny list',
    steps: [
      ...times(30, (index) => plain(`SET limit:user-${index} ${index}`)),
      plain('SET limit:other 1'),
      run(ratelimit, 'resetScript', ['limit:user-*'], []),
      plain('DBSIZE'),
      plain('EXISTS limit:other'),
      plain('SADD deny:all 1.2.3.4 bad'),
      run(ratelimit, 'checkDenyListScript', ['deny:all', 'deny:status'], ['1.2.3.4', 'good', 'bad']),
      plain('TTL deny:status', 'near'),
      run(ratelimit, 'checkDenyListScript', ['deny:none', 'deny:status'], ['x']),
    ],
  },
  {
    title: 'lock',
    steps: [
      plain('SET lock uuid-1 NX PX 100000'),
      run(lock, 1, ['lock'], ['uuid-2', 10]),
      run(lock, 1, ['lock'], ['uuid-1', 10]),
      plain('TTL lock', 'near'),
      run(lock, 0, ['lock'], ['uuid-2']),
      run(lock, 0, ['lock'], ['uuid-1']),
      plain('EXISTS lock'),
      run(lock, 0, ['lock'], ['uuid-1']),
      run(lock, 1, ['lock'], ['uuid-1', 10]),
      plain('SET forever uuid-1'),
      run(lock, 1, ['forever'], ['uuid-1', 10]),
    ],
  },
  {
    title: 'analytics',
    steps: [
      plain('ZADD events:1700000000000 3 {"identifier":"a","success":true} 1 {"identifier":"b","success":false}'),
      plain('ZADD events:1699996400000 4 {"identifier":"a","success":true} 2 {"identifier":"c","success":"denied"}'),
      run(analytics, 0, ['events:1700000000000'], ['identifier'], 'unordered'),
      run(analytics, 1, ['events'], [start, 3_600_000, 24, 5, 100]),
      run(analytics, 1, ['events'], [start, 3_600_000, 2, 1, 1]),
      run(analytics, 2, ['events'], [start, 3_600_000, 2]),
    ],
  },
]
