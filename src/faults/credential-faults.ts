import * as v from 'valibot'
import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import type { CredentialFault, CredentialStep, FaultOf } from './fault.js'
import { atDeliveries, atRequestsAndOutbound } from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { signatureFaults, signedMilliseconds } from './fault-values.js'

// Faults of signatures, tokens and plans.

/**
 * Gives the signature of a delivery one defect: a name from `signatureFlaws`, or `rotated` for a signature with the
 * next key.
 * @example sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.badSignature('expired') })
 */
export function badSignature(flaw: FaultOf<'bad-signature'>['flaw']): FaultOf<'bad-signature'> {
  return { kind: 'bad-signature', flaw }
}

/**
 * Moves the clock that signs deliveries ahead of the receiver's clock, or behind it with a negative duration.
 * @example sandbox.faults.add({ on: 'queue.delivery', fault: fault.clockSkew('-10m') })
 */
export function clockSkew(by: Duration | `-${string}`): FaultOf<'clock-skew'> {
  const behind = typeof by === 'string' ? by.startsWith('-') : by < 0
  const size = milliseconds(typeof by === 'string' ? (by.replace(/^-/, '') as Duration) : behind ? -by : by)
  return { kind: 'clock-skew', byMs: behind ? -size : size }
}

/**
 * Rejects the token of a request, as if the token had been revoked.
 * @example sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.revokedToken() })
 */
export function revokedToken(): FaultOf<'revoked-token'> {
  return { kind: 'revoked-token' }
}

/**
 * Rejects a request, as if the quota of the plan were used up.
 * @example sandbox.faults.add({ on: 'queue.request', fault: fault.quotaExceeded() })
 */
export function quotaExceeded(): FaultOf<'quota-exceeded'> {
  return { kind: 'quota-exceeded' }
}

const rows: FaultGroup<CredentialStep, CredentialFault> = {
  'bad-signature': {
    summary:
      'The signature has one flaw: a name from `signatureFlaws`, or `rotated`, which signs with the next signing key.',
    effect: 'shapes',
    sentence: ({ flaw }) => `signed wrongly: ${flaw}`,
    made: { badSignature },
    phases: ['before'],
    fields: { flaw: v.picklist(signatureFaults, `must be one of ${signatureFaults.join(', ')}`) },
    sample: ['expired'],
    shownAt: 'queue.delivery',
    at: atDeliveries({
      meets({ flaw }: FaultOf<'bad-signature'>, moment) {
        moment.sign({ flaw })
        return moment.onwards()
      },
    }),
  },
  'clock-skew': {
    summary:
      'The clock that signs deliveries is `byMs` ahead of the receiver, or behind it if `byMs` is negative. If it is more than 5 minutes behind, the signature has expired on arrival. If it is ahead, receivers that check `iat` reject the signature.',
    effect: 'shapes',
    sentence: ({ byMs }) =>
      `signed by a clock that is ${formatDuration(Math.abs(byMs))} ${byMs < 0 ? 'behind' : 'ahead'}`,
    made: { clockSkew },
    phases: ['before'],
    fields: { byMs: signedMilliseconds },
    sample: ['-10m'],
    shownAt: 'queue.delivery',
    at: atDeliveries({
      meets({ byMs }: FaultOf<'clock-skew'>, moment) {
        moment.sign({ skewMs: byMs })
        return moment.onwards()
      },
    }),
  },
  'revoked-token': {
    summary: 'The token is rejected as no longer valid.',
    effect: 'answers',
    sentence: () => 'the token is rejected',
    made: { revokedToken },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'store.request',
    at: {
      ...atRequestsAndOutbound<FaultOf<'revoked-token'>>((_fault, moment) => moment.refusedToken()),
      'stream.open': (_fault, moment) => moment.refusedToken(),
    },
  },
  'quota-exceeded': {
    summary: 'The quota of the plan is used up, so the request is rejected.',
    effect: 'answers',
    sentence: () => 'the quota is used up',
    made: { quotaExceeded },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'store.request',
    at: {
      'store.request': (fault, moment) => moment.worded(fault),
      'store.command': (_fault, moment) => moment.failOverQuota(),
      'queue.request': (fault, moment) => moment.worded(fault),
      'workflow.wait': (fault, moment) => moment.worded(fault),
    },
  },
}
export default rows
