import { replay } from '../support/transcript.js'
import { steps } from './string.steps.js'

replay('string', steps)
