import { tags } from '../dom.ts'

const { button, span } = tags

/** A button that does something, and says so where it is refused. */
export function action(words: string, work: () => Promise<void>): HTMLElement {
  const fault = faultText()
  const made: HTMLButtonElement = button(
    { type: 'button', onclick: () => void attempt(work, made, fault) },
    words,
  )
  return span({ className: 'action' }, made, fault)
}

/** Where is told why something was refused. */
export function faultText(): HTMLElement {
  return span({ role: 'alert', className: 'fault' })
}

/** Does what a button is for. Meanwhile it cannot be pressed again. */
export async function attempt(
  work: () => Promise<void>,
  pressed: HTMLButtonElement,
  fault: HTMLElement,
): Promise<void> {
  pressed.disabled = true
  fault.textContent = ''
  try {
    await work()
  } catch (error) {
    fault.textContent = (error as Error).message
  } finally {
    pressed.disabled = false
  }
}
