import { replay } from '../support/transcript.js'
import { steps } from './set.steps.js'

replay('set', steps)
