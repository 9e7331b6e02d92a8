import { type Reply, ReplyError } from '../../../../src/store/command/reply.js'
import { type RespValue, replyIn } from '../redis-client/reply-reader.js'
import type { CommandInfo } from './command-catalog.js'

/** Combines the replies of all masters of a Cluster to one reply, as the command tips of the real Redis specify. */
export function combined({ tips }: CommandInfo, told: readonly RespValue[]): Reply {
  const policy = [...tips].find((tip) => tip.startsWith('response_policy:'))?.slice('response_policy:'.length)
  const error = told.find((each) => each instanceof ReplyError)
  if (policy === 'one_succeeded') return replyIn(told.find((each) => !(each instanceof ReplyError)) ?? told[0]!)
  if (error !== undefined) throw error
  const replies = told.map((each) => replyIn(each))
  const fold = folds[policy ?? '']
  if (fold !== undefined) return folded(replies, fold)
  if (policy === undefined && replies.every(isList)) return replies.flat()
  return replies.find((reply) => reply !== null) ?? null
}

function isList(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply)
}

type Fold = (a: number, b: number) => number

const folds: Readonly<Record<string, Fold>> = {
  agg_sum: (a, b) => a + b,
  agg_min: Math.min,
  agg_max: Math.max,
  agg_logical_and: (a, b) => a & b,
  agg_logical_or: (a, b) => a | b,
}

/** Combines numbers, or lists of numbers element by element. */
function folded(replies: readonly Reply[], fold: Fold): Reply {
  if (replies.every(isList)) {
    return replies[0]!.map((_, at) =>
      folded(
        replies.map((list) => list[at]!),
        fold,
      ),
    )
  }
  return replies.map(Number).reduce(fold)
}
