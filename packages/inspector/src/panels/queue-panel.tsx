import type { JSX } from 'preact'
import { runsAt } from '../models/run-model.js'
import { AsOf } from './as-of-panel.js'
import { DeadLetters } from './dead-letters-panel.js'
import { FifoQueues, FlowKeys, Groups } from './flow.js'
import { Messages } from './messages.js'
import { modelsOf } from './models-of.js'
import type { PanelProps } from './panel-view.js'
import { Failure, Tabs, useAct } from './parts.js'
import { Runs } from './runs.js'
import { Schedules } from './schedules-panel.js'
import { kept } from './stored-setting.js'
import { UnfinishedMessages } from './unfinished-messages.js'

/** Shows the queue as of any instant: messages, dead letters, schedules, groups, flow control, FIFO queues and runs. */
export function QueuePanel({ view }: PanelProps): JSX.Element {
  const { queue, point, isPresent } = modelsOf(view)
  const { messages, deadLetters, schedules, groups, flowKeys, lanes } = queue.value
  const range = view.range.value
  const shown =
    range === undefined
      ? messages
      : messages.filter(({ story }) => story.entries.some(({ at }) => at >= range.from && at <= range.to))
  const runs = runsAt(view.entries.value, point.value)
  const letters = deadLetters.filter(({ takenBy }) => takenBy === undefined)
  const act = useAct()
  const control = isPresent.value ? view.source.control : undefined
  const props = { view, control, now: point.value.at, act }
  return (
    <section class="pn" aria-label="Queue">
      <header class="pn-head">
        <AsOf view={view} />
        {range !== undefined && <span>only messages of the selected range</span>}
      </header>
      <Failure of={act} />
      <UnfinishedMessages {...props} queue={queue.value} />
      <Tabs
        label="Queue"
        chosen={kept(view, 'part of the queue', 'Messages')}
        tabs={[
          { name: 'Messages', count: shown.length, content: () => <Messages {...props} messages={shown} /> },
          {
            name: 'Dead letters',
            count: letters.length,
            content: () => <DeadLetters {...props} letters={deadLetters} />,
          },
          { name: 'Schedules', count: schedules.length, content: () => <Schedules {...props} schedules={schedules} /> },
          { name: 'Runs', count: runs.length, content: () => <Runs {...props} runs={runs} /> },
          { name: 'Groups', count: groups.length, content: () => <Groups {...props} groups={groups} /> },
          { name: 'Flow control', count: flowKeys.length, content: () => <FlowKeys {...props} keys={flowKeys} /> },
          { name: 'FIFO queues', count: lanes.length, content: () => <FifoQueues {...props} lanes={lanes} /> },
        ]}
      />
    </section>
  )
}
