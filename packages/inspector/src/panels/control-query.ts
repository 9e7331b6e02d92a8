import { useEffect, useRef, useState } from 'preact/hooks'

/** Response to a request to the control API, if it has arrived. */
export interface ControlQuery<T> {
  readonly value: T | undefined
  readonly failure: string | undefined
  again(): void
}

/**
 * Calls `ask`, which sends a request to the control API, and calls it again when a value in `when` changes. Only one
 * request runs at a time. If a value changes during a request, `ask` is called again after the response. If `ask` is
 * undefined, nothing is sent.
 */
export function useControlQuery<T>(
  ask: (() => Promise<unknown>) | undefined,
  when: readonly unknown[],
): ControlQuery<T> {
  const [state, setState] = useState<{ value?: T; failure?: string }>({})
  const running = useRef({ isBusy: false, isStale: false, isGone: false, ask })
  const { current } = running
  current.ask = ask
  const again = (): void => {
    if (current.ask === undefined || current.isGone) return
    if (current.isBusy) {
      current.isStale = true
      return
    }
    Object.assign(current, { isBusy: true, isStale: false })
    current
      .ask()
      .then(
        (value) => !current.isGone && setState({ value: value as T }),
        (error) => !current.isGone && setState((before) => ({ ...before, failure: String(error?.message ?? error) })),
      )
      .finally(() => {
        current.isBusy = false
        if (current.isStale) again()
      })
  }
  useEffect(again, [ask === undefined, ...when])
  useEffect(() => {
    current.isGone = false
    return () => {
      current.isGone = true
    }
  }, [current])
  return { value: state.value, failure: state.failure, again }
}
