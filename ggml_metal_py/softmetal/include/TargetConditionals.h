// Which Apple platform the sources believe they are compiled for: an Apple-silicon Mac with the macOS 14
// SDK. The version is a choice: from macOS 15 on callers keep residency sets and a heartbeat thread for
// them, neither of which has a meaning for memory that is always resident.
#pragma once

#define TARGET_OS_MAC    1
#define TARGET_OS_OSX    1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS    0
#define TARGET_OS_TV     0
#define TARGET_OS_WATCH  0
#define TARGET_OS_VISION 0
#define TARGET_OS_SIMULATOR 0

// The GPU presented is Apple silicon's whatever CPU runs it.
#define TARGET_CPU_X86_64 0
#define TARGET_CPU_ARM64  1

#define __MAC_OS_X_VERSION_MAX_ALLOWED 140000
