import { json } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { StoreUnreachable } from './cluster-store.js'
import { NotTaken, nodeHeader, Unanswered } from './forward.js'
import { CannotOpen } from './ownership.js'
import { sentence } from './sentences.js'
import { ClusterStoreError } from './store-link.js'
import { NotOwner } from './tenant-lease.js'

// What a node answers instead of a tenant.

/** To a node that took this one for the owner. */
export function elsewhere(): RawResponse {
  return json({ error: 'Another node has this tenant.' }, 421, [[nodeHeader, 'elsewhere']])
}

/** To whoever claims to be a node. */
export function refused(why: string): RawResponse {
  const error = `This request says that a node of the cluster handed it on, and ${why}.`
  return json({ error }, 401, [[nodeHeader, 'refused']])
}

/** An owner that cannot be reached, or that could not keep what was asked of it. @throws what is a mistake of ours */
export function unavailable(error: unknown): RawResponse {
  if (error instanceof CannotOpen) return json({ error: sentence(error.message) }, 500)
  // Nobody's mistake here: a key that somebody else has written, or a user who may not.
  if (error instanceof ClusterStoreError) return json({ error: sentence(`${foreign}: ${error.message}`) }, 500)
  const said = saidOf(error)
  if (said === undefined) throw error
  return json({ error: said }, 503, [['Retry-After', '1']])
}

/** One of two things stands at the end, and nowhere else: whether something may have happened. */
function saidOf(error: unknown): string | undefined {
  if (error instanceof Unanswered)
    return `${sentence(error.message)} What was asked may have happened, or not: look before you ask again.`
  if (error instanceof StoreUnreachable || error instanceof NotOwner) return `${sentence(error.message)} ${nothing}`
  if (error instanceof NotTaken) {
    const why = `The tenant's node does not answer, and no other has taken the tenant over yet: ${error.message}`
    return `${sentence(why)} ${nothing}`
  }
  return undefined
}

const foreign = 'The engine refuses what this node does with its keys there (stuntdouble:*)'

const nothing = 'Nothing was done: ask again.'
