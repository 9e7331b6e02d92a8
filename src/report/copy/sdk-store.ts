import { jsLiteral } from './quoting.js'

// Converts commands of the store to calls of its SDK.

/** An argument as the SDK receives it. A number is not converted to text. */
export type SdkArg = string | number | boolean

/** SDK methods that take the arguments of their command in the same order. */
const flat: ReadonlySet<string> = new Set(
  (
    'get del incr decr incrby decrby append exists expire pexpire expireat ttl pttl persist getdel strlen rename type ' +
    'lpush rpush lpop rpop llen lrange lrem ltrim lindex sadd srem smembers sismember scard hget hdel hexists hlen ' +
    'hkeys hvals hgetall hincrby zscore zcard zrem zrank keys publish unlink touch'
  ).split(' '),
)

/**
 * Returns the SDK call of a command, such as `set('a', 'b', { ex: 60 })`, or `undefined` if no method sends the same
 * command.
 */
export function methodCall([command, ...args]: readonly SdkArg[]): string | undefined {
  const name = String(command)
  // The SDK sends command names in lower case.
  if (flat.has(name)) return `${name}(${listed(args)})`
  if (name === 'set') return setCall(args)
  return name === 'hset' ? hsetCall(args) : undefined
}

/** Returns a call of the SDK method that can send any command. */
export function anyCall(words: readonly SdkArg[]): string {
  return `exec(${jsLiteral(words.map(String))})`
}

const listed = (args: readonly SdkArg[]): string => args.map((arg) => jsLiteral(arg)).join(', ')

/**
 * Returns a call of `set()`. Returns `undefined` if the options of the command are in another order than the SDK sends
 * them.
 */
function setCall([key, value, ...rest]: readonly SdkArg[]): string | undefined {
  if (key === undefined || value === undefined) return undefined
  const options: Record<string, SdkArg> = {}
  for (const flag of ['nx', 'xx', 'get']) {
    if (rest[0] !== flag) continue
    options[flag] = true
    rest.shift()
  }
  const [unit, span] = rest
  if (rest.length === 2 && typeof span === 'number' && /^(?:ex|px)(?:at)?$/.test(String(unit)))
    options[String(unit)] = span
  else if (rest.length > 0) return undefined
  return `set(${listed([key, value])}${Object.keys(options).length === 0 ? '' : `, ${jsLiteral(options)}`})`
}

/**
 * Returns a call of `hset()`. Returns `undefined` if a field name is a whole number, because JavaScript objects sort
 * such names first.
 */
function hsetCall([key, ...pairs]: readonly SdkArg[]): string | undefined {
  const names = pairs.filter((_, at) => at % 2 === 0).map(String)
  const odd = pairs.length === 0 || pairs.length % 2 === 1 || new Set(names).size < names.length
  if (key === undefined || odd || names.some((name) => /^\d+$/.test(name))) return undefined
  const fields = Object.fromEntries(names.map((name, at) => [name, pairs[at * 2 + 1]]))
  return `hset(${jsLiteral(key)}, ${jsLiteral(fields)})`
}
