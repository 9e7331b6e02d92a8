import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'
import type { PageFacts, PageListener, PageSource } from './source.js'

/** Facts about a recording, which its page contains. */
interface RecordingInfo extends Omit<PageFacts, 'now'> {
  readonly now?: number
  readonly entries: number
  readonly changes: number
}

/** Loading pauses after this many milliseconds of host time, so that the page can handle events. */
const slice = 40

/** Returns the recording that the page contains, or `undefined` in the page of a server. */
export function recordingSource(): PageSource | undefined {
  const element = document.getElementById('recording')
  if (element === null) return undefined
  const info = JSON.parse(element.textContent ?? '') as RecordingInfo
  return {
    follow(listener) {
      const reading = { isOver: false }
      void read(info, listener, reading)
      return () => {
        reading.isOver = true
      }
    },
  }
}

async function read(info: RecordingInfo, listener: PageListener, reading: { readonly isOver: boolean }): Promise<void> {
  const { entries: _, changes: __, ...facts } = info
  listener.facts({ ...facts, now: info.now ?? 0 })
  const changes: KeyChange[] = []
  for (const block of blocksOf('changes')) {
    changes.push(...(JSON.parse(block.textContent ?? '') as KeyChange[]))
    await pauseIfLong()
  }
  listener.changes(changes)
  let fresh: TraceEntry[] = []
  let latest = info.now ?? 0
  for (const [index, block] of blocksOf('entries').entries()) {
    const read = JSON.parse(block.textContent ?? '') as TraceEntry[]
    for (const entry of read) fresh.push(entry)
    block.remove()
    latest = Math.max(latest, fresh.at(-1)?.at ?? latest)
    // An update takes longer the more entries there are. Send only two updates: the first entries, and then all others.
    if (index === 1) {
      listener.entries(fresh)
      fresh = []
    }
    await pauseIfLong()
    if (reading.isOver) return
  }
  if (fresh.length > 0) listener.entries(fresh)
  if (info.now === undefined) listener.facts({ ...facts, now: latest })
  listener.connection({ state: 'ready' })
}

function blocksOf(name: string): readonly Element[] {
  return [...document.querySelectorAll(`script[data-block="${name}"]`)]
}

let began = 0

async function pauseIfLong(): Promise<void> {
  if (performance.now() - began < slice) return
  await new Promise((resolve) => setTimeout(resolve))
  began = performance.now()
}
