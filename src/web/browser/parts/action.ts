import { tags } from '../dom.ts'

const { button, span } = tags

/** A button that does something, and says so where it is refused. */
export function action(words: string, work: () => Promise<void>): HTMLElement {
  const fault = span({ role: 'alert', className: 'fault' })
  const press = async (): Promise<void> => {
    made.disabled = true
    fault.textContent = ''
    try {
      await work()
    } catch (error) {
      fault.textContent = (error as Error).message
    } finally {
      made.disabled = false
    }
  }
  const made = button({ type: 'button', onclick: () => void press() }, words)
  return span({ className: 'action' }, made, fault)
}
