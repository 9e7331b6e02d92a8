import { replay } from '../support/transcript.js'
import { steps } from './hyperloglog.steps.js'

replay('hyperloglog', steps)
