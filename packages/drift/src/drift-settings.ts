import { randomInt } from 'node:crypto'
import { UsageError } from '@stuntdouble/command-line'
import { isLoopback } from '../../../src/queue/settings/url.js'

/** Tokens are never words of a command line: other users of a machine could read them. */
export const tokenVariable = 'STUNTDOUBLE_DRIFT_TOKEN'
export const readOnlyTokenVariable = 'STUNTDOUBLE_DRIFT_READONLY_TOKEN'
export const queueTokenVariable = 'STUNTDOUBLE_DRIFT_QUEUE_TOKEN'

/** A service's address as it is used: without a slash at its end. @throws UsageError */
export function serviceUrl(option: string, given: string): string {
  if (!URL.canParse(given))
    throw new UsageError(`--${option} is a url such as https://…, not ${JSON.stringify(given)}.`)
  const url = new URL(given)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`--${option} has a password in it: leave it out, and give the token in the environment.`)
  if (url.search !== '' || url.hash !== '') throw new UsageError(`--${option} is an address without ? and #.`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw new UsageError(`--${option} begins with https://: anybody on the way could read the token otherwise.`)
  return given.replace(/\/+$/, '')
}

/** A token out of the environment. @param how it is had, where that can be told @throws UsageError */
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

/** What everything that a run makes begins with. Letters, digits and underscores: libraries take nothing else. */
export function runPrefix(): string {
  return `sd_drift_${Array.from({ length: 10 }, () => symbols[randomInt(symbols.length)]).join('')}_`
}
