// Compares two replies in the form of the REST API: plain JSON values, and `{ error }` for errors.

/** Returns the error text of a reply in JSON or RESP2, or `undefined` if the reply is not an error. */
export function errorIn(reply: unknown): string | undefined {
  if (typeof reply === 'string') return /^-([A-Z]+ [^\r\n]*)\r\n$/.exec(reply)?.[1]
  const { error } = (reply ?? {}) as { error?: unknown }
  return typeof error === 'string' ? error : undefined
}

export function isUnavailable(reply: unknown): boolean {
  return /^ERR Command is not available/.test(errorIn(reply) ?? '')
}

export function isUnknown(reply: unknown): boolean {
  return /^ERR unknown (?:sub)?command/i.test(errorIn(reply) ?? '')
}

/**
 * Returns whether two replies have the same shape and equal texts.
 * @param same returns whether two texts count as equal
 */
export function isAlike(double: unknown, other: unknown, same: (double: string, other: string) => boolean): boolean {
  if (Array.isArray(double) && Array.isArray(other)) {
    return double.length === other.length && double.every((item, at) => isAlike(item, other[at], same))
  }
  return double === other || (areTexts(double, other) && same(double as string, other as string))
}

export function isNear(double: unknown, other: unknown): boolean {
  const [ours, theirs] = [double, other].map((sum) => (typeof sum === 'string' && sum !== '' ? Number(sum) : NaN))
  return Math.abs(ours! - theirs!) <= 1e-12 * Math.abs(ours!)
}

export function areNumbers(double: unknown, other: unknown): boolean {
  return typeof double === 'number' && typeof other === 'number'
}

/** Returns whether both replies are texts that are not errors. In RESP2, an error is also a text. */
export function areTexts(double: unknown, other: unknown): boolean {
  return [double, other].every((reply) => typeof reply === 'string' && errorIn(reply) === undefined)
}

export function written(reply: unknown): string {
  return typeof reply === 'string' ? reply : (JSON.stringify(reply) ?? '')
}
