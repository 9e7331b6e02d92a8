import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Control } from '../source.js'
import { Comparison } from './comparison.js'
import { useControlQuery } from './control-query.js'
import type { PanelProps } from './panel-view.js'
import { Failure, Name, Twice, useAct } from './parts.js'

/** Maximum size of a file that the page imports, in bytes. Use the command line for larger states. */
const largest = 100_000_000

/** Shows the tenants of a server: to switch, compare, reset, export and import. */
export function TenantsPanel({ view }: PanelProps): JSX.Element {
  const { control } = view.source
  return (
    <section class="pn" aria-label="Tenants">
      {control === undefined ? (
        <p>
          This is a recording of <Name of={view.facts.value?.name} />: one sandbox, read-only.
        </p>
      ) : (
        <Tenants view={view} control={control} />
      )}
    </section>
  )
}

function Tenants({ view, control }: PanelProps & { readonly control: Control }): JSX.Element {
  const other = useSignal<string | undefined>(undefined)
  const act = useAct()
  const asked = useControlQuery<readonly string[]>(
    () => control.tenants(),
    [control, view.tenant.value, view.world.value],
  )
  const names = asked.value ?? [control.tenant]
  return (
    <>
      <Failure of={asked} />
      <ul class="pn-list">
        {names.map((name) => (
          <li key={name}>
            <button
              type="button"
              class="pn-link"
              aria-current={name === control.tenant}
              onClick={() => (view.tenant.value = name)}
            >
              <Name of={name} />
            </button>{' '}
            {name === control.tenant ? (
              <small>is shown</small>
            ) : (
              <button
                type="button"
                aria-pressed={other.value === name}
                aria-label={`Compare with ${name}`}
                onClick={() => (other.value = other.value === name ? undefined : name)}
              >
                Compare
              </button>
            )}
          </li>
        ))}
      </ul>
      <World control={control} act={act} />
      <Failure of={act} />
      {other.value !== undefined && other.value !== control.tenant && (
        <Comparison key={`${control.tenant} ${other.value}`} view={view} control={control} other={other.value} />
      )}
    </>
  )
}

function World({ control, act }: { readonly control: Control; readonly act: ReturnType<typeof useAct> }): JSX.Element {
  const exported = async (): Promise<void> => {
    const state = await control.ask('GET', '/state')
    const url = URL.createObjectURL(new Blob([JSON.stringify(state)], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${control.tenant.replace(/[^\w-]+/g, '-') || 'world'}.json`
    link.click()
    // Keep the object until the browser has read it for the download.
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  }
  const chosen = useSignal<File | undefined>(undefined)
  const imported = async (file: File): Promise<void> => {
    if (file.size > largest) throw new Error(`${file.name} is larger than 100 MB: send it with PUT /state.`)
    await control.ask('PUT', '/state', parsed(file.name, await file.text()))
  }
  return (
    <fieldset class="pn-group pn-line" aria-label={`Sandbox of ${control.tenant}`}>
      <button type="button" disabled={act.isBusy} onClick={() => void act.run(exported)}>
        Export to a file
      </button>
      <label class="pn-file">
        Import a file{' '}
        <input
          type="file"
          accept="application/json,.json"
          disabled={act.isBusy}
          onChange={(event) => {
            const field = event.currentTarget
            const file = field.files?.[0]
            if (file === undefined) return
            chosen.value = file
            // If the user selects the same file again, the browser reports a change only if the field is empty.
            field.value = ''
          }}
        />
      </label>
      {chosen.value !== undefined && (
        <Import
          file={chosen.value}
          of={control.tenant}
          act={act}
          done={(file) => {
            chosen.value = undefined
            if (file !== undefined) void act.run(() => imported(file))
          }}
        />
      )}
      <Twice
        sure="Really delete everything"
        disabled={act.isBusy}
        act={() => void act.run(() => control.ask('POST', '/reset', {}))}
      >
        Reset
      </Twice>
    </fieldset>
  )
}

/** Asks before an import, because an import replaces the current sandbox. */
function Import({ file, of, act, done }: ImportProps): JSX.Element {
  const keep = useRef<HTMLButtonElement>(null)
  useEffect(() => keep.current?.focus(), [file])
  return (
    <p class="pn-line" role="alert">
      <span>
        <Name of={file.name} /> replaces everything in <Name of={of} />: its stored, queued and captured data are lost.
        Export the tenant first to keep its data.
      </span>
      <button type="button" class="pn-sure" disabled={act.isBusy} onClick={() => done(file)}>
        Replace it
      </button>
      <button type="button" ref={keep} onClick={() => done(undefined)}>
        Keep it
      </button>
    </p>
  )
}

interface ImportProps {
  readonly file: File
  readonly of: string
  readonly act: ReturnType<typeof useAct>
  /** @param file file to import. Absent if the user canceled the import */
  readonly done: (file?: File) => void
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name} is not JSON: choose a file that Export has made.`)
  }
}
