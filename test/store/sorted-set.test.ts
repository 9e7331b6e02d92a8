import { replay } from '../support/transcript.js'
import { steps } from './sorted-set.steps.js'

replay('sorted-set', steps)
