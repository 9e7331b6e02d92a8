import { Transform } from 'node:stream'

/** Maximum bytes of one message. A scenario with all of its records is shorter. */
export const maxMessage = 8_388_608

const lineFeed = 10

/**
 * Returns a stream of the lines up to a maximum length. A longer line is discarded while it arrives, so that it does
 * not fill the memory. The connection continues.
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
