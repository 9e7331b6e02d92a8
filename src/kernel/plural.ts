/** Returns a number with its noun: `plural(1, 'byte')` is `1 byte`, `plural(2, 'entry', 'entries')` is `2 entries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
