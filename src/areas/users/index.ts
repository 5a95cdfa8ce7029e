export { createUser, type NewUser } from './create.ts'
