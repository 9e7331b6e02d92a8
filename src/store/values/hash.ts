import type { Bytes } from '../../kernel/bytes.js'
import { OrderedTable } from './ordered-table.js'
import type { Container } from './value.js'

export class HashValue implements Container {
  readonly type = 'hash'
  fields: OrderedTable<Bytes> = new OrderedTable()

  get isEmpty(): boolean {
    return this.fields.size === 0
  }

  copy(): HashValue {
    const copy = new HashValue()
    copy.fields = this.fields.copy()
    return copy
  }
}
