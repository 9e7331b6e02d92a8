import type { HeaderList } from '../../kernel/http.js'
import { type Random, singleId } from '../../kernel/random.js'
import type { Policy } from '../../policy/policy.js'
import type { Message } from '../message/message.js'
import type { Attempt, DeliveryWriter } from '../message/message-entries.js'
import { faultySignature } from '../signing/signature-lab.js'
import { claimsFor, type SignatureWindow, type SigningKeys, signToken } from '../signing/signing.js'

/**
 * Returns a function that creates the headers of a delivery. Headers are created when they are first read, because most
 * headers are never read. [queue.md 3.1]
 */
export function deliveryWriter(
  random: Random,
  window: SignatureWindow,
  keys: SigningKeys,
  echo: Policy['workflowEchoConfiguration'],
): DeliveryWriter {
  const signatureOf = (attempt: Attempt): ((issuer: string) => string) => {
    // Use a separate random stream for each signature. The ID in the signature then depends neither on when the header
    // is read nor on the durations by which a test advances time.
    const jti = singleId(random.fork(`jwt/${attempt.messageId}/${attempt.at}/${attempt.number}`), 'jwt_', 28)
    const { at, key, signing, message } = attempt
    if (signing !== undefined) {
      const { body } = attempt
      return (issuer) => faultySignature(signing, message.url, body, key, keys, { at, issuer, jti, window })
    }
    const hash = attempt.bodyHash
    return (issuer) => signToken(claimsFor(message.url, hash, at, issuer, jti, window), key)
  }
  return {
    headers: (attempt: Attempt): HeaderList => {
      const { message } = attempt
      const { words } = message.settings
      const { urlGroup, scheduleId, callerIp, region } = message.origin
      const headers: (readonly [string, string])[] = []
      if (!message.headers.some(([name]) => name === 'User-Agent')) headers.push(['User-Agent', words.userAgent])
      headers.push(...message.headers)
      // A call to a third party gets no headers about its run.
      const ofRun = message.part?.headers(message) ?? []
      headers.push(...ofRun)
      if (echo === 'all' || (echo === 'runs' && ofRun.length > 0)) headers.push(...echoed(message, attempt.retried))
      const signature = signatureOf(attempt)
      for (const { prefix, issuer } of words.tongues) {
        headers.push([`${prefix}Signature`, signature(issuer)], [`${prefix}Message-Id`, message.id])
        headers.push([`${prefix}Retried`, String(attempt.retried)])
        if (urlGroup !== undefined) headers.push([`${prefix}Topic-Name`, urlGroup])
        if (scheduleId !== undefined) headers.push([`${prefix}Schedule-Id`, scheduleId])
        headers.push([`${prefix}Caller-Ip`, callerIp], [`${prefix}Region`, region.toUpperCase()])
      }
      return headers
    },
  }
}

/** Returns headers with the settings that are in force for a message, such as its retries. [workflow.md 3.5] */
function echoed({ settings }: Message, retried: number): [string, string][] {
  const { retries, retryDelay, flowControl, words } = settings
  return words.tongues.flatMap(({ prefix }) => {
    const headers: [string, string][] = [
      [`${prefix}Max-Retries`, String(retries)],
      [`${prefix}Retries`, String(retried)],
    ]
    if (retryDelay !== undefined) headers.push([`${prefix}Retry-Delay`, retryDelay.text])
    if (flowControl === undefined) return headers
    headers.push([`${prefix}Flow-Control-Key`, flowControl.key])
    if (flowControl.limits === undefined) return headers
    const { parallelism, rate, period } = flowControl.limits
    const parts = Object.entries({ parallelism, rate, period }).filter(([, value]) => value !== undefined)
    headers.push([`${prefix}Flow-Control-Value`, parts.map(([name, value]) => `${name}=${value}`).join(',')])
    return headers
  })
}
