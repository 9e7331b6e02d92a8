import { replay } from '../support/transcript.js'
import { steps } from './hash.steps.js'

replay('hash', steps)
