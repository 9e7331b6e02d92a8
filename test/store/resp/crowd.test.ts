import { expect, test } from 'vitest'
import { Account } from '../../../src/kernel/account.js'
import { Crowd, type MemoryHolder } from '../../../src/store/resp/crowd.js'

/** Returns holders that share an account of a megabyte, with their own time. */
function crowdOfTest(): { crowd: Crowd; holder: (bytes: number) => One; pass: (ms: number) => void } {
  let time = 0
  const crowd = new Crowd(new Account(1_000_000), () => time)
  return {
    crowd,
    holder: (bytes) => new One(crowd, bytes),
    pass: (ms) => {
      time += ms
      crowd.look()
    },
  }
}

class One implements MemoryHolder {
  progress = 0
  isGone = false
  readonly #crowd: Crowd
  readonly #account: Account

  constructor(crowd: Crowd, bytes: number) {
    this.#crowd = crowd
    this.#account = new Account(Number.POSITIVE_INFINITY, crowd.buffered)
    this.hold(bytes)
  }

  get held(): number {
    return this.#account.held
  }

  hold(bytes: number): void {
    if (!this.#account.take(bytes)) throw new RangeError('There is no room.')
    this.#crowd.note(this)
  }

  take(): void {
    this.#account.release()
    this.#crowd.note(this)
  }

  sendAway(): void {
    this.isGone = true
    this.take()
  }
}

const goneOf = (holders: readonly One[]): boolean[] => holders.map(({ isGone }) => isGone)

test('disconnects the holder without progress for longest, and keeps one with progress, even a large one', () => {
  const { crowd, holder, pass } = crowdOfTest()
  const steady = holder(600_000)
  const still: One[] = []
  for (let count = 0; count < 4; count++) {
    for (let times = 0; times < 4; times++) {
      steady.progress++
      pass(400)
    }
    still.push(holder(100_000))
  }
  expect(crowd.makesRoom(150_000)).toBe(true)
  expect(goneOf([...still, steady])).toEqual([true, true, false, false, false])
})

test('does not count what the operating system reads at the beginning as progress', () => {
  const { crowd, holder, pass } = crowdOfTest()
  const [reader, attacker] = [holder(500_000), holder(400_000)]
  for (const one of [reader, attacker]) one.progress++
  pass(200)
  pass(1_000)
  reader.progress++
  pass(200)
  expect(crowd.makesRoom(300_000)).toBe(true)
  expect(goneOf([reader, attacker])).toEqual([false, true])
})

test('does not count progress of long ago', () => {
  const { crowd, holder, pass } = crowdOfTest()
  const [before, now] = [holder(100_000), holder(800_000)]
  pass(2_000)
  before.progress++
  pass(100)
  pass(5_000)
  now.progress++
  pass(100)
  expect(crowd.makesRoom(150_000)).toBe(true)
  expect(goneOf([before, now])).toEqual([true, false])
})

test('if all make progress, disconnects the largest, unless more is requested than they hold', () => {
  const { crowd, holder, pass } = crowdOfTest()
  const all = [holder(200_000), holder(500_000), holder(250_000)]
  pass(2_000)
  for (const one of all) one.progress++
  pass(100)
  expect(crowd.makesRoom(600_000)).toBe(false)
  expect(goneOf(all)).toEqual([false, false, false])
  expect(crowd.makesRoom(100_000)).toBe(true)
  expect(goneOf(all)).toEqual([false, true, false])
})

test('disconnects no holder if the bytes would not fit anyway', () => {
  const { crowd, holder, pass } = crowdOfTest()
  const all = [holder(200_000), holder(500_000)]
  crowd.buffered.take(200_000)
  pass(10_000)
  expect(crowd.makesRoom(900_000)).toBe(false)
  expect(goneOf(all)).toEqual([false, false])
})

test('keeps small holders, and holders that have just read everything are not new', () => {
  const { crowd, holder, pass } = crowdOfTest()
  const [little, often] = [holder(16_384), holder(500_000)]
  pass(2_000)
  often.take()
  often.hold(500_000)
  pass(100)
  const still = holder(400_000)
  pass(100)
  expect(crowd.makesRoom(200_000)).toBe(true)
  expect(goneOf([little, often, still])).toEqual([false, false, true])
})
