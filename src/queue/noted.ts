import type { SettingEntry, Traffic } from '../kernel/traffic.js'

/** Writes into the traffic log that something which stays in force changed. */
export type NoteSetting = (
  of: SettingEntry['of'],
  name: string,
  change: string,
  value?: Readonly<Record<string, string | number | boolean | undefined>>,
) => void

export function notingIn(traffic: Traffic): NoteSetting {
  return (of, name, change, value) => {
    const known = value && Object.entries(value).filter(([, what]) => what !== undefined)
    traffic.append({
      type: 'setting',
      of,
      name,
      change,
      ...(known &&
        known.length > 0 && { value: Object.fromEntries(known) as Record<string, string | number | boolean> }),
    })
  }
}
