import type { Bytes } from '../../kernel/bytes.js'
import { OrderedTable } from './ordered-table.js'
import type { Container } from './value.js'

export class SetValue implements Container {
  readonly type = 'set'
  members: OrderedTable<true> = new OrderedTable()

  static from(members: Iterable<Bytes>): SetValue {
    const set = new SetValue()
    for (const member of members) set.members.put(member, true)
    return set
  }

  get isEmpty(): boolean {
    return this.members.size === 0
  }

  copy(): SetValue {
    const copy = new SetValue()
    copy.members = this.members.copy()
    return copy
  }
}
