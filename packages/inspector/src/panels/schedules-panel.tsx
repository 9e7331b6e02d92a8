import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { plural } from '../../../../src/kernel/plural.js'
import { monthAfter, monthName, monthOf, weeksOf } from '../models/month-calendar.js'
import type { ScheduleAt } from '../models/queue-settings.js'
import { useControlQuery } from './control-query.js'
import { Explained } from './flow.js'
import { Countdown, Failure, Instant, Name } from './parts.js'
import { type QueueProps, queuePath } from './queue-props.js'

const day = 86_400_000
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** Shows the schedules, each with a calendar of its fire times. */
export function Schedules({
  schedules,
  ...props
}: QueueProps & { readonly schedules: readonly ScheduleAt[] }): JSX.Element {
  const { control, act } = props
  if (schedules.length === 0) return <p class="pn-none">There are no schedules.</p>
  return (
    <>
      {schedules.map((schedule) => {
        const { id, region, cron, to, paused, fired, error, imported } = schedule
        const since = imported ? ' since it was imported' : ''
        return (
          <details key={`${region} ${id}`} open={schedules.length < 4}>
            <summary>
              <Name of={id} /> <code>{cron}</code> to <Name of={to} />{' '}
              {paused && <span class="pn-state pn-paused">paused</span>}
            </summary>
            <p class="pn-line">
              {fired.length === 0 ? (
                `It has not fired${since}.`
              ) : (
                <>
                  Fired {plural(fired.length, 'time')}
                  {since}, last <Instant at={fired.at(-1)!} />.
                </>
              )}{' '}
              {imported && 'The log contains nothing from before the import.'} {error}
              {control && (
                <button
                  type="button"
                  disabled={act.isBusy}
                  aria-label={`Fire ${id} now`}
                  onClick={() =>
                    void act.run(() => control.ask('POST', queuePath(region, 'schedules', id, 'fire'), {}))
                  }
                >
                  Fire now
                </button>
              )}
            </p>
            <Calendar schedule={schedule} {...props} />
            <Explained {...props} region={region} what={{ schedule: id }} />
          </details>
        )
      })}
    </>
  )
}

/** Calendar of one month with past fire times. If the sandbox is running, it also has the planned fire times. */
function Calendar({ schedule, control, now }: QueueProps & { readonly schedule: ScheduleAt }): JSX.Element {
  const turned = useSignal(0)
  const { id, region, fired, cron } = schedule
  const month = monthAfter(monthOf(now), turned.value)
  const end = monthAfter(month, 1)
  const from = Math.max(month, now + 1)
  const asked = useControlQuery<{ readonly slots: readonly number[]; readonly more: boolean }>(
    control && from < end
      ? () =>
          slotsWithin(end, from, (span) => control.ask('POST', queuePath(region, 'schedules', id, 'upcoming'), span))
      : undefined,
    [month, id, cron, fired.length],
  )
  const slots = from < end ? (asked.value?.slots ?? []) : []
  const counts = (times: readonly number[], at: number): readonly number[] =>
    times.filter((time) => time >= at && time < at + day)
  const next = turned.value === 0 ? slots[0] : undefined
  return (
    <>
      {next !== undefined && (
        <p>
          Next <Countdown at={next} from={now} />
        </p>
      )}
      <Failure of={asked} />
      <div class="pn-line">
        <button type="button" aria-label="Month before" onClick={() => turned.value--}>
          ‹
        </button>
        <b aria-live="polite">{monthName(month)}</b>
        <button type="button" aria-label="Month after" onClick={() => turned.value++}>
          ›
        </button>
      </div>
      <table class="pn-calendar">
        <thead>
          <tr>
            {weekdays.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week.find(Boolean)?.at}>
              {week.map((one, at) => {
                if (one === undefined) return <td key={weekdays[at]} />
                const [gone, coming] = [counts(fired, one.at), counts(slots, one.at)]
                return (
                  <td key={weekdays[at]} class={one.at <= now && now < one.at + day ? 'pn-today' : ''}>
                    {one.number}
                    {gone.length > 0 && <div class="pn-gone">{told(gone)} fired</div>}
                    {coming.length > 0 && <div class="pn-coming">{told(coming)}</div>}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {asked.value?.more && <p class="pn-none">Only the first {slots.length} fire times are shown.</p>}
    </>
  )
}

/** Formats up to two fire times of a day. For more, returns only their number. */
function told(times: readonly number[]): string {
  if (times.length > 2) return `${times.length} times`
  return times
    .map((at) => {
      const minutes = Math.floor((at % day) / 60_000)
      return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
    })
    .join(', ')
}

/** Requests fire times. If a range has too many for one response, it requests a smaller range and sets `more`. */
async function slotsWithin(
  end: number,
  from: number,
  ask: (span: { from: number; to: number }) => Promise<unknown>,
): Promise<{ slots: readonly number[]; more: boolean }> {
  for (let span = end - from; ; span = Math.floor(span / 8)) {
    try {
      const slots = (await ask({ from, to: from + span - 1 })) as readonly number[]
      return { slots, more: from + span < end }
    } catch (error) {
      if (span < 60_000 || !/more than/.test(String(error))) throw error
    }
  }
}
