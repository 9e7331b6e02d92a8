/** A number of things in words: `counted(1, 'byte')` is `1 byte`, `counted(2, 'entry', 'entries')` is `2 entries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
