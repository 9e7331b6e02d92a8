import { replay } from '../support/transcript.js'
import { steps } from './generic.steps.js'

replay('generic', steps)
