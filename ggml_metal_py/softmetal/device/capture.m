// GPU capture: there is none. Asking for one is answered with an error, as on a Mac without Xcode's tools.

#import <Metal/Metal.h>

#include "failure.h"

#include <pthread.h>

@interface SMCaptureScope : NSObject <MTLCaptureScope>
@end

@implementation SMCaptureScope

- (void) beginScope {
}

- (void) endScope {
}

@end

@implementation MTLCaptureDescriptor {
    id                    _captureObject;
    MTLCaptureDestination _destination;
    NSURL *               _outputURL;
}

- (void) dealloc {
    [_captureObject release];
    [_outputURL release];
    [super dealloc];
}

- (id) captureObject {
    return _captureObject;
}

- (void) setCaptureObject:(id) object {
    [object retain];
    [_captureObject release];
    _captureObject = object;
}

- (MTLCaptureDestination) destination {
    return _destination;
}

- (void) setDestination:(MTLCaptureDestination) destination {
    _destination = destination;
}

- (NSURL *) outputURL {
    return _outputURL;
}

- (void) setOutputURL:(NSURL *) url {
    [url retain];
    [_outputURL release];
    _outputURL = url;
}

@end

static MTLCaptureManager * shared_manager;

static void make_shared_manager(void) {
    shared_manager = [MTLCaptureManager new];
}

@implementation MTLCaptureManager

+ (MTLCaptureManager *) sharedCaptureManager {
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_shared_manager);
    return shared_manager;
}

- (id<MTLCaptureScope>) newCaptureScopeWithDevice:(id<MTLDevice>) device {
    (void) device;
    return [SMCaptureScope new];
}

- (BOOL) startCaptureWithDescriptor:(MTLCaptureDescriptor *) descriptor error:(NSError **) error {
    (void) descriptor;
    sm_failure_report("softmetal has no GPU capture", error);
    return NO;
}

- (void) stopCapture {
}

@end
