import type { Signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { formatDuration } from '../../../../src/kernel/duration.js'
import { iso } from '../../../../src/kernel/instant.js'
import type { PortableString } from '../../../../src/kernel/portable.js'
import { multiLine, plainText } from '../../../../src/report/safe-text.js'
import { hexOf } from '../models/key-tree.js'
import type { PageView } from '../view.js'

// Small components and functions that several panels use.

/** Formats an instant: `2030-01-01 09:00:00`, with milliseconds if there are any. */
export function shownTime(at: number): string {
  if (!(Math.abs(at) <= 8.64e15)) return String(at)
  return iso(at)
    .replace('T', ' ')
    .replace(/\.000Z$|Z$/, '')
}

export function Instant({ at }: { readonly at: number }): JSX.Element {
  const isDate = Math.abs(at) <= 8.64e15
  return <time {...(isDate && { dateTime: iso(at) })}>{shownTime(at)}</time>
}

/** Shows an instant, and its distance from the instant `from`, such as `in 5m`. */
export function Countdown({ at, from }: { readonly at: number; readonly from: number }): JSX.Element {
  const left = Math.round(at - from)
  return (
    <span class="pn-count">
      <Instant at={at} />{' '}
      <small>{left === 0 ? 'now' : left > 0 ? `in ${formatDuration(left)}` : `${formatDuration(-left)} ago`}</small>
    </span>
  )
}

/** Shows recorded bytes. They are shown as text if they are text. */
export function Bytes({ value, most = 2000 }: { readonly value: PortableString; readonly most?: number }): JSX.Element {
  const text = typeof value === 'string' ? value : hexOf(value.base64)
  const shown = text.length > most ? `${text.slice(0, most)}…` : text
  return typeof value === 'string' ? (
    <bdi>{multiLine(shown)}</bdi>
  ) : (
    <code title="bytes that are not text">0x{shown}</code>
  )
}

/** Shows a recorded name. Escapes characters that could reverse the reading direction of text. */
export function Name({ of }: { readonly of: string | undefined }): JSX.Element {
  return <bdi>{plainText(of ?? '')}</bdi>
}

/**
 * Shows a text of the control API. Text between backticks is shown as code. Do not pass a recorded text, because it can
 * contain backticks.
 */
export function Marked({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>
}

export function EntryLink({ view, seq, children }: EntryLinkProps): JSX.Element {
  const isSelected = view.selectedSeq.value === seq
  return (
    <button
      type="button"
      class="pn-link"
      aria-pressed={isSelected}
      onClick={() => {
        view.selectedSeq.value = seq
      }}
    >
      {children ?? `#${seq}`}
    </button>
  )
}

interface EntryLinkProps {
  readonly view: PageView
  readonly seq: number
  readonly children?: ComponentChildren
}

/** State of a request that changes the sandbox. */
export interface Act {
  readonly isBusy: boolean
  /** Reason why the request was rejected. */
  readonly failure: string | undefined
  run(work: () => unknown): Promise<boolean>
  /** Shows an error message that does not result from a request, or removes the message if it is `undefined`. */
  fail(sentence: string | undefined): void
}

export function useAct(): Act {
  const [state, setState] = useState<{ isBusy: boolean; failure?: string }>({ isBusy: false })
  return {
    isBusy: state.isBusy,
    failure: state.failure,
    fail: (failure) => setState({ isBusy: false, ...(failure !== undefined && { failure }) }),
    async run(work) {
      setState({ isBusy: true })
      try {
        await work()
        setState({ isBusy: false })
        return true
      } catch (error) {
        setState({ isBusy: false, failure: error instanceof Error ? error.message : String(error) })
        return false
      }
    },
  }
}

/** Shows an error message. Screen readers announce it immediately. */
export function Failure({ of }: { readonly of: { readonly failure: string | undefined } }): JSX.Element | null {
  return of.failure === undefined ? null : (
    <p class="pn-failure" role="alert">
      {of.failure}
    </p>
  )
}

interface Tab {
  readonly name: string
  readonly count?: number
  readonly content: () => ComponentChildren
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly chosen: Signal<string>
}

/** Tabs that can be used with the keyboard: the arrow keys open the next or the previous tab. */
export function Tabs({ label, tabs, chosen }: TabsProps): JSX.Element {
  const choose = (name: string): void => {
    chosen.value = name
  }
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const at = Math.max(
    0,
    tabs.findIndex(({ name }) => name === chosen.value),
  )
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = ({ ArrowRight: 1, ArrowLeft: -1 } as Record<string, number>)[event.key]
    if (step === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const next = (at + step + tabs.length) % tabs.length
    choose(tabs[next]!.name)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <>
      <div class="pn-tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name, count }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => choose(name)}
          >
            {name}
            {count === undefined ? '' : ` ${count}`}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${at}`} class="pn-tab">
        {tabs[at]!.content()}
      </div>
    </>
  )
}

/** Shows the beginning of a long list, and a button that shows more. */
export function Most<T>({ items, of, most = 200, children }: MostProps<T>): JSX.Element {
  const [shown, show] = useState(most)
  return (
    <>
      {children(items.slice(0, shown))}
      {items.length > shown && (
        <button type="button" class="pn-more" onClick={() => show(shown + most)}>
          {items.length - shown} more {of}
        </button>
      )}
    </>
  )
}

interface MostProps<T> {
  readonly items: readonly T[]
  /** Name of the items, in the plural. */
  readonly of: string
  readonly most?: number
  readonly children: (items: readonly T[]) => ComponentChildren
}

/** Button for an action that cannot be undone. The action runs when the button is pressed for the second time. */
export function Twice({ children, sure, act, disabled }: TwiceProps): JSX.Element {
  const [asked, ask] = useState(false)
  useEffect(() => {
    if (disabled) ask(false)
  }, [disabled])
  return (
    <button
      type="button"
      class={asked ? 'pn-sure' : ''}
      disabled={disabled}
      onBlur={() => ask(false)}
      onClick={() => {
        if (asked) act()
        ask(!asked)
      }}
    >
      {asked ? sure : children}
    </button>
  )
}

interface TwiceProps {
  readonly children: ComponentChildren
  /** Label that the button has before the second press. */
  readonly sure: string
  readonly act: () => void
  readonly disabled?: boolean
}
