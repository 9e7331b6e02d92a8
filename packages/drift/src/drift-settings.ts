import { randomInt } from 'node:crypto'
import { UsageError } from '@stuntdouble/command-line'
import { isLoopback } from '../../../src/queue/settings/url.js'

/**
 * Environment variable with the token of the store. Tokens are not accepted as arguments, because other users of the
 * machine can read the arguments of a process.
 */
export const tokenVariable = 'STUNTDOUBLE_DRIFT_TOKEN'
export const readOnlyTokenVariable = 'STUNTDOUBLE_DRIFT_READONLY_TOKEN'
export const queueTokenVariable = 'STUNTDOUBLE_DRIFT_QUEUE_TOKEN'

/**
 * Returns the URL of a service without a trailing slash.
 * @throws UsageError for a URL that is invalid, has a password or a query, or would send the token unencrypted
 */
export function serviceUrl(option: string, given: string): string {
  if (!URL.canParse(given))
    throw new UsageError(`--${option} must be a URL such as https://… (got ${JSON.stringify(given)}).`)
  const url = new URL(given)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`--${option} contains a password. Remove it, and pass the token in the environment.`)
  if (url.search !== '' || url.hash !== '') throw new UsageError(`--${option} must be a URL without ? and #.`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw new UsageError(`--${option} must begin with https://, because http:// sends the token unencrypted.`)
  return given.replace(/\/+$/, '')
}

/**
 * Returns a token from the environment.
 * @param how hint about how to get a token, or an empty string
 * @throws UsageError if the token is missing
 */
export function tokenFrom(
  variable: string,
  env: Readonly<Record<string, string | undefined>>,
  why: string,
  how = '',
): string {
  const token = env[variable]?.trim()
  if (token) return token
  throw new UsageError(`${why} needs its token in the environment: set ${variable}.${how}`)
}

const symbols = 'abcdefghijkmnpqrstuvwxyz23456789'

/**
 * Returns a prefix for the names of all resources that a run creates. It contains only letters, digits and underscores,
 * because the names of libraries allow no other characters.
 */
export function runPrefix(): string {
  return `sd_drift_${Array.from({ length: 10 }, () => symbols[randomInt(symbols.length)]).join('')}_`
}
