import { replay } from '../support/transcript.js'
import { steps } from './bitmap.steps.js'

replay('bitmap', steps)
