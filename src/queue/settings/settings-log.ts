import type { SettingEntry, TrafficLog } from '../../kernel/traffic-log.js'

/**
 * Adds a log entry about a change of a resource or setting, such as a pause or a limit. Returns the `seq` of the entry.
 */
export type NoteSetting = (
  of: SettingEntry['resource'],
  name: string,
  change: string,
  value?: Readonly<Record<string, string | number | boolean | undefined>>,
  cause?: number,
) => number

export function notingIn(traffic: TrafficLog): NoteSetting {
  return (of, name, change, value, cause) => {
    const known = value && Object.entries(value).filter(([, what]) => what !== undefined)
    const values = known && known.length > 0 ? Object.fromEntries(known) : undefined
    const entry: SettingEntry = {
      type: 'setting',
      resource: of,
      name,
      change,
      ...(values && { value: values as Record<string, string | number | boolean> }),
    }
    return traffic.append(entry, cause).seq
  }
}
