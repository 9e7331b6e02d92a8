import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'

export const sandbox = useSandbox()
