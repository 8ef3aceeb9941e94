// The installed library in the working directory, for packages/try.sh.

import { overview } from '@stan/context';

console.log((await overview()).text);
