import { Account } from '../../kernel/account.js'
import { hostPause } from '../../kernel/host.js'

// Deliveries over the network: how many run at once, and what their answers hold while they arrive.

/** So many deliveries over the network run at once in a sandbox, also where its plan has fewer: quotas are another thing. */
export const leastParallel = 100

/** What answers of destinations may hold, and whether there is memory for more of them. A server has one for all sandboxes. */
export interface RoomForResponses {
  /** Everything that is on its way. */
  readonly all: Account
  /** What large answers may take of it, so that small ones always find room. */
  readonly large: Account
  /** Whether nothing is asked for that brings another answer. */
  readonly isFull: () => boolean
  /** Calls back, once, when it may be full no longer. */
  readonly whenRoom: (run: () => void) => void
}

/** Bytes of answers that are read at once in a sandbox that stands alone. */
export const maxBuffered = 536_870_912

/** Bytes from which on an answer is a large one. */
export const largeResponseBytes = 1_048_576

/** Deliveries in this process that begin at once. */
const maxAtOnce = 1

/** The room of a sandbox that stands alone: memory is not its business. */
export function ownRoom(): RoomForResponses {
  const all = new Account(maxBuffered)
  return { all, large: all, isFull: () => false, whenRoom: () => {} }
}

/** An answer that is longer than what is left for answers. */
export class ResponseCutOff extends Error {
  override readonly name = 'AnswerCutOff'

  constructor() {
    super(
      'it found no room beside the other answers that are being read. Let the destination answer with less, or make fewer deliveries at once',
    )
  }
}

/** Deliveries over the network that run, and those that wait for their turn. */
export class Network {
  readonly #room: RoomForResponses
  readonly #most: number
  readonly #waiting = new Set<() => void>()
  #running = 0
  #turns: Promise<void> = Promise.resolve()
  #waitsForRoom = false

  /** @param most deliveries that run at once */
  constructor(room: RoomForResponses, most: number = Number.POSITIVE_INFINITY) {
    this.#room = room
    this.#most = most
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Room for one answer. */
  answer(): HeldResponse {
    return new HeldResponse(this.#room)
  }

  /**
   * Runs a delivery in its turn: at once where there is a place.
   * @param wait says that it waits, and gets to know when it does no longer
   * @param signal ends its wait: then it does not run
   * @returns `undefined` where it did not run
   */
  async run<T>(signal: AbortSignal, wait: () => () => void, deliver: () => Promise<T>): Promise<T | undefined> {
    // Whoever waits comes first.
    if (this.#waiting.size > 0 || !this.#mayStart()) {
      const goOn = wait()
      const hasPlace = await this.#turn(signal)
      goOn()
      if (!hasPlace) return undefined
    } else this.#running++
    try {
      return await deliver()
    } finally {
      this.#running--
      this.#startNext()
    }
  }

  /**
   * For work that is done in this process: one delivery begins at once, each further one in a turn of the event loop of
   * its own, so that others have theirs.
   */
  hostTurn(): Promise<void> | void {
    if (this.#running <= maxAtOnce) return
    this.#turns = this.#turns.then(hostPause)
    return this.#turns
  }

  /** The world is over: nobody's turn comes. */
  end(): void {
    this.#waiting.clear()
  }

  #mayStart(): boolean {
    return this.#running < this.#most && !this.#room.isFull()
  }

  /** Resolves when it has a place, or does not wait for one any more. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        this.#waiting.delete(start)
        this.#running++
        resolve(true)
      }
      const leave = (): void => {
        this.#waiting.delete(start)
        resolve(false)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(start)
      this.#startNext()
    })
  }

  #startNext(): void {
    for (const start of this.#waiting) {
      if (!this.#mayStart()) break
      start()
    }
    if (this.#waiting.size === 0 || this.#waitsForRoom || !this.#room.isFull()) return
    this.#waitsForRoom = true
    this.#room.whenRoom(() => {
      this.#waitsForRoom = false
      this.#startNext()
    })
  }
}

/** What is held of one answer while it arrives. */
export class HeldResponse {
  readonly #large: Account
  #held: Account

  constructor({ all, large }: RoomForResponses) {
    this.#large = large
    this.#held = new Account(Number.POSITIVE_INFINITY, all)
  }

  /** @throws AnswerCutOff, and holds nothing any more */
  take(bytes: number): void {
    let more = bytes
    if (this.#held.above !== this.#large && this.#held.held + bytes > largeResponseBytes) {
      more += this.#held.held
      this.#held.release()
      this.#held = new Account(Number.POSITIVE_INFINITY, this.#large)
    }
    if (this.#held.take(more)) return
    this.#held.release()
    throw new ResponseCutOff()
  }

  release(): void {
    this.#held.release()
  }
}
