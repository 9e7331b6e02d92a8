import { effect } from '@preact/signals'
import type { PageView, Theme } from '../view.js'

export const themes: readonly Theme[] = ['system', 'light', 'dark']
const place = 'stuntdouble-theme'

/** Loads the color theme that the reader chose before, and saves changes of it. */
export function keepTheme({ theme }: PageView): void {
  const kept = read()
  if (kept !== undefined) theme.value = kept
  effect(() => {
    document.documentElement.dataset.theme = theme.value
    try {
      if (theme.value === 'system') localStorage.removeItem(place)
      else localStorage.setItem(place, theme.value)
    } catch {
      // A file may have no storage.
    }
  })
}

function read(): Theme | undefined {
  try {
    return themes.find((theme) => theme === localStorage.getItem(place))
  } catch {
    return undefined
  }
}
