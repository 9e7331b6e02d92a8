// The scripts of the vendor's rate limiter, from the installed package.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export interface Script {
  readonly name: string
  readonly source: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** Returns the scripts with limits that are never reached. */
export function rateLimitScripts(): readonly Script[] {
  const text = readFileSync(createRequire(import.meta.url).resolve('@upstash/ratelimit'), 'utf8')
  const source = (name: string): string => new RegExp(`var ${name} = \`([^\`]*)\``).exec(text)![1]!
  const now = '1700000000000'
  const limit = '1000000000'
  return [
    {
      name: 'fixed window',
      source: source('fixedWindowLimitScript'),
      keys: ['fixed', ''],
      args: [limit, '60000', '1'],
    },
    {
      name: 'sliding window',
      source: source('slidingWindowLimitScript'),
      keys: ['now', 'before', ''],
      args: [limit, now, '60000', '1'],
    },
    {
      name: 'token bucket',
      source: source('tokenBucketLimitScript'),
      keys: ['bucket', ''],
      args: [limit, '1000', '10', now, '1'],
    },
  ]
}
