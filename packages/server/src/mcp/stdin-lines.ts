import { Transform } from 'node:stream'

/** Bytes of one message: a scenario with all its records. */
export const maxMessage = 8_388_608

const lineFeed = 10

/**
 * Lets lines through that are short enough. A longer one is left out, whatever its length, so that it neither fills the
 * memory nor ends the connection.
 * @param tooLong called once for each line that is left out
 */
export function lines(tooLong: () => void, longest: number = maxMessage): Transform {
  let held: Buffer[] = []
  let size = 0
  const add = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= longest) held.push(chunk)
    else held = []
  }
  return new Transform({
    transform(chunk: Buffer, _, done) {
      let from = 0
      for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
        add(chunk.subarray(from, at + 1))
        if (size <= longest) this.push(Buffer.concat(held))
        else tooLong()
        held = []
        size = 0
        from = at + 1
      }
      add(chunk.subarray(from))
      done()
    },
  })
}
