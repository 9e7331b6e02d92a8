import { Transform } from 'node:stream'

/** Maximum bytes of one message, which is enough for a scenario with all its records. */
export const maxMessage = 8_388_608

const lineFeed = 10

/**
 * Passes lines up to a maximum length. A longer line is dropped as it arrives, so that it neither fills the memory nor
 * ends the connection.
 * @param tooLong called once for each dropped line
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
