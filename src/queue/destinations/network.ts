import { Account } from '../../kernel/account.js'
import { hostPause } from '../../kernel/host.js'

// Limits deliveries over the network: how many run at the same time, and how much memory their responses use.

/**
 * Number of deliveries over the network that a sandbox can always run at the same time, even if its plan allows fewer.
 * Quotas of the plan are enforced elsewhere.
 */
export const leastParallel = 100

/** Limits of the memory for responses of destinations. All sandboxes of a server share one object. */
export interface RoomForResponses {
  /** Bytes of all responses that are being received. */
  readonly all: Account
  /**
   * Bytes of large responses. The limit is lower than that of `all`, so large responses cannot use up the memory that
   * small responses need.
   */
  readonly large: Account
  /** Whether memory is full. Then no further delivery starts, because its response would need memory. */
  readonly isFull: () => boolean
  /** Calls the function once, as soon as memory may be free again. */
  readonly whenRoom: (run: () => void) => void
}

/** Maximum total bytes of responses that a standalone sandbox receives at the same time. */
export const maxBuffered = 536_870_912

/** Size in bytes from which a response counts as large. */
export const largeResponseBytes = 1_048_576

/**
 * Number of deliveries that may run handlers in this process without a pause. Further handlers start after a pause that
 * lets other work of the event loop run.
 */
const maxAtOnce = 1

/**
 * Returns the memory limits of a sandbox without a server. They limit only the bytes of responses and ignore the memory
 * of the process.
 */
export function ownRoom(): RoomForResponses {
  const all = new Account(maxBuffered)
  return { all, large: all, isFull: () => false, whenRoom: () => {} }
}

/** Error for a response that is larger than the remaining memory for responses. */
export class ResponseCutOff extends Error {
  override readonly name = 'ResponseCutOff'

  constructor() {
    super(
      'other responses that are being read use up the memory. Send a smaller response, or make fewer deliveries at the same time',
    )
  }
}

/** Runs deliveries over the network. While the maximum number is running or memory is full, further ones wait. */
export class Network {
  readonly #room: RoomForResponses
  readonly #most: number
  readonly #waiting = new Set<() => void>()
  #running = 0
  #turns: Promise<void> = Promise.resolve()
  #waitsForRoom = false

  /** @param most maximum number of deliveries that run at the same time */
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

  answer(): HeldResponse {
    return new HeldResponse(this.#room)
  }

  /**
   * Runs a delivery. If the limits do not allow it now, the delivery waits behind those that already wait.
   * @param wait called when the delivery starts to wait; the function that it returns is called when the wait ends
   * @param signal stops the wait; then the delivery does not run
   * @returns `undefined` if the delivery did not run
   */
  async run<T>(signal: AbortSignal, wait: () => () => void, deliver: () => Promise<T>): Promise<T | undefined> {
    // A new delivery must not overtake deliveries that already wait.
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
   * Delays a delivery to a handler in this process, so that other work of the event loop can run before it. The first
   * delivery is not delayed.
   */
  hostTurn(): Promise<void> | void {
    if (this.#running <= maxAtOnce) return
    this.#turns = this.#turns.then(hostPause)
    return this.#turns
  }

  /** Drops all waiting deliveries when the sandbox ends. */
  end(): void {
    this.#waiting.clear()
  }

  #mayStart(): boolean {
    return this.#running < this.#most && !this.#room.isFull()
  }

  /**
   * Waits until the delivery may start. The result is `true` if it may start, and `false` if the signal stopped the
   * wait.
   */
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

export class HeldResponse {
  readonly #large: Account
  #held: Account

  constructor({ all, large }: RoomForResponses) {
    this.#large = large
    this.#held = new Account(Number.POSITIVE_INFINITY, all)
  }

  /**
   * Reserves bytes.
   * @throws ResponseCutOff when memory is full, after the account has been released
   */
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
