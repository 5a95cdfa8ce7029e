import { tags } from '../dom.ts'
import { withCode } from '../parts/with-code.ts'
import { valueText, type Changed, type Foreseen } from './catalogue.ts'

const { code, del, ins, li, small, strong, ul } = tags

/** What changed, or would. */
export function changeList(changes: readonly (Changed | Foreseen)[]): HTMLElement {
  return ul(
    { className: 'foreseen' },
    changes.map((change) =>
      li(
        code(change.name),
        change.secret === true
          ? ': changed, and not shown'
          : [': ', del(valueText(change.from)), ' → ', ins(valueText(change.to))],
        'warning' in change && strong({ className: 'warning' }, ` ${change.warning}`),
        'effect' in change && small(withCode(change.effect)),
      ),
    ),
  )
}
