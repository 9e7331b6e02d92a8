import { computed, type ReadonlySignal } from '@preact/signals'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { type QueueAt, QueueModel } from '../models/queue-model.js'
import { DatabaseModels, databaseNames } from '../models/shown-databases.js'
import type { StoreInstant, StoreModel } from '../models/store-model.js'
import type { PageView } from '../view.js'

/** Models of the store and the queue. All panels of one page share them. */
export interface Models {
  /** The selected database of the store. */
  readonly store: ReadonlySignal<{ readonly model: StoreModel }>
  /** Name of the selected database, if the sandbox has it. `undefined`: the first database. */
  readonly database: ReadonlySignal<string | undefined>
  readonly queue: ReadonlySignal<QueueAt>
  /** Point of the log that the panels show. */
  readonly point: ReadonlySignal<StoreInstant>
  /** Whether the panels show the present. Only then can the sandbox be changed. */
  readonly isPresent: ReadonlySignal<boolean>
  /** Shows the present. */
  present(): void
}

const known = new WeakMap<PageView, Models>()

export function modelsOf(view: PageView): Models {
  let models = known.get(view)
  if (models === undefined) {
    models = made(view)
    known.set(view, models)
  }
  return models
}

function made(view: PageView): Models {
  const now = computed(() => view.facts.value?.now ?? view.entries.value.at(-1)?.at ?? 0)
  const point = computed((): StoreInstant => {
    const at = view.instant.value
    if (at === undefined) return { seq: Number.POSITIVE_INFINITY, at: now.value }
    // If several entries have this instant, the point is at the selected entry.
    const selected = view.entry(view.selectedSeq.value)
    return { seq: selected?.at === at ? selected.seq : Number.POSITIVE_INFINITY, at }
  })
  const changes = growing(
    view,
    () => view.changes.value,
    () => new DatabaseModels(),
    (model, fresh) => model.add(fresh),
  )
  const database = computed(() => {
    const { value } = view.database
    return databaseNames(view.facts.value?.addresses).find((name) => name === value)
  })
  const entries = growing(
    view,
    () => view.entries.value,
    () => new QueueModel(),
    (model, fresh: readonly TraceEntry[]) => model.add(fresh),
  )
  return {
    store: computed(() => ({ model: changes.value.model.of(database.value) })),
    database,
    queue: computed(() => entries.value.model.at(point.value)),
    point,
    isPresent: computed(() => view.instant.value === undefined),
    present() {
      view.instant.value = undefined
    },
  }
}

/**
 * Returns a model to which new items of a list are added. If the list loses items at its beginning, a new model is
 * created.
 */
function growing<T extends { readonly seq: number }, M>(
  view: PageView,
  list: () => readonly T[],
  begin: () => M,
  add: (model: M, fresh: readonly T[]) => void,
): ReadonlySignal<{ readonly model: M }> {
  let model = begin()
  let taken: readonly T[] = []
  let world = view.world.peek()
  return computed(() => {
    const items = list()
    // After a reset or a load, or when old entries were dropped, the list has another first item.
    if (world !== view.world.value || (taken.length > 0 && items[0]?.seq !== taken[0]!.seq)) {
      world = view.world.value
      model = begin()
      taken = []
    }
    const before = taken
    add(
      model,
      items.filter((item, at) => item !== before[at]),
    )
    taken = items
    // The model is the same object as before. A new object around it makes the signal notify its readers.
    return { model }
  })
}
