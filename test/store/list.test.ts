import { replay } from '../support/transcript.js'
import { steps } from './list.steps.js'

replay('list', steps)
